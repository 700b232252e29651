import { availableParallelism } from 'node:os'
import llamaTokenizer from 'llama-tokenizer-js'
import type { InferenceSession } from 'onnxruntime-common'
import { SAMPLE_RATE, secondsOf } from '../audio/wav.ts'
import type { AllowedTokens } from './allowed-tokens.ts'
import { Decoder, START_TOKEN } from './decoder.ts'
import { MODELS, type ModelName, openModel, type Runtime } from './onnx.ts'
import { search } from './sentence-search.ts'
import type { Listened } from './transcriber.ts'

/** Nobody speaks faster; a model that writes more is hallucinating. */
const TOKENS_PER_SECOND = 6.5
/** In a model this small, more threads would only wait for each other. */
const MOST_THREADS = 4
// With this silence around them, a quarter fewer words are wrong.
const SILENCE_BEFORE = Math.round(0.3 * SAMPLE_RATE)
const SILENCE_AFTER = Math.round(0.5 * SAMPLE_RATE)
/** The peak that a quiet recording is amplified to. */
const WANTED_PEAK = 0.3
/** 40 dB. */
const MOST_GAIN = 100

interface Sessions {
  encoder: InferenceSession
  decoder: InferenceSession
}

/** Turns a piece of speech into text with one of Moonshine's English models. */
export class MoonshineModel {
  readonly #name: ModelName
  readonly #runtime: Runtime
  readonly #sessions: Sessions

  private constructor(name: ModelName, runtime: Runtime, sessions: Sessions) {
    this.#name = name
    this.#runtime = runtime
    this.#sessions = sessions
  }

  static async load(name: ModelName, runtime: Runtime): Promise<MoonshineModel> {
    const options = { intraOpNumThreads: Math.min(availableParallelism(), MOST_THREADS) }
    const { package: from, folder } = MODELS[name]
    const open = (file: string) => openModel(runtime, { package: from, file: `${folder}/${file}` }, options)
    const encoder = await open('encoder_model.onnx')
    const decoder = await open('decoder_model_merged.onnx')
    const model = new MoonshineModel(name, runtime, { encoder, decoder })
    // The first run allocates; nobody should have to wait for that.
    await model.listen(new Float32Array(SAMPLE_RATE), { isStopped: () => false })
    return model
  }

  /**
   * Transcribes a piece of a few seconds that certainly contains speech, as far as it gets before `isStopped`: freely,
   * and along the sentences of a graph if there is one.
   */
  async listen(
    speech: Float32Array,
    { isStopped, allowed }: { isStopped(): boolean; allowed?: AllowedTokens | undefined },
  ): Promise<Listened> {
    const { Tensor } = this.#runtime
    const samples = new Float32Array(SILENCE_BEFORE + speech.length + SILENCE_AFTER)
    samples.set(amplified(speech), SILENCE_BEFORE)
    const input = new Tensor('float32', samples, [1, samples.length])
    const { last_hidden_state: heard } = await this.#sessions.encoder.run({ input_values: input })
    if (!heard) throw new Error('the encoder returned nothing')
    const { shape } = MODELS[this.#name]
    const decoder = new Decoder({ session: this.#sessions.decoder, shape, heard, Tensor })
    const mostTokens = Math.ceil(secondsOf(samples) * TOKENS_PER_SECOND)
    const { tokens, score, sentences } = await search({ decoder, allowed, mostTokens, isStopped })
    return { text: textOf(tokens), score, sentences }
  }
}

/** Amplifies a quiet recording, because neither model hears a distant voice; returns others unchanged. */
export function amplified(samples: Float32Array): Float32Array {
  const peak = samples.reduce((highest, sample) => Math.max(highest, Math.abs(sample)), 0)
  if (peak === 0 || peak >= WANTED_PEAK) return samples
  const gain = Math.min(WANTED_PEAK / peak, MOST_GAIN)
  return samples.map(sample => sample * gain)
}

/** Tokens beyond the tokenizer's are markers without text. Nobody speaks quotation marks. */
function textOf(tokens: readonly number[]): string {
  const words = tokens.filter(token => token < llamaTokenizer.vocabById.length)
  return llamaTokenizer
    .decode([START_TOKEN, ...words])
    .replace(/["“”]/g, '')
    .trim()
}
