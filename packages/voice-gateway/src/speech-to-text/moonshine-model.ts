import { availableParallelism } from 'node:os'
import llamaTokenizer from 'llama-tokenizer-js'
import type { InferenceSession } from 'onnxruntime-common'
import { SAMPLE_RATE, secondsOf } from '../audio/samples.ts'
import type { AllowedTokens } from './bound/allowed-tokens.ts'
import { SentenceSearch } from './bound/sentence-search.ts'
import { Decoder, START_TOKEN } from './decoder.ts'
import { FreeText } from './free-text.ts'
import { HEARINGS, type Hearing, isUnsure } from './hearings.ts'
import { openModel } from './model-session.ts'
import { MODELS, type ModelName } from './models.ts'
import type { NameTree } from './names/name-tree.ts'
import { NamedText } from './names/named-text.ts'
import { Tensor } from './onnx-runtime.ts'
import { preparePiece } from './prepare-piece.ts'
import type { Listened } from './transcriber.ts'
import { type Writing, writeTogether } from './write-together.ts'

/** Nobody speaks faster; a model that writes more is hallucinating. */
const TOKENS_PER_SECOND = 6.5
/** In a model this small, more threads would only wait for each other. */
const MOST_THREADS = 4
/** Sentences this much less likely than the free transcript were not said. */
const FLOOR_BELOW_FREE = 25
/** Figures and the final punctuation mark take a few more tokens than the words heard. */
const MORE_TOKENS = 8

interface ListenOptions {
  hearing?: Hearing
  /** The sentences to listen for. */
  allowed?: AllowedTokens | undefined
  names?: NameTree | undefined
}

/** Turns a piece of speech into text with one of Moonshine's English models. */
export class MoonshineModel {
  readonly #encoder: InferenceSession
  readonly #decoder: InferenceSession
  readonly #name: ModelName

  private constructor(name: ModelName, encoder: InferenceSession, decoder: InferenceSession) {
    this.#name = name
    this.#encoder = encoder
    this.#decoder = decoder
  }

  static async load(name: ModelName): Promise<MoonshineModel> {
    const options = { intraOpNumThreads: Math.min(availableParallelism(), MOST_THREADS) }
    const { package: from, folder } = MODELS[name]
    const encoder = { package: from, file: `${folder}/encoder_model.onnx` }
    const decoder = { package: from, file: `${folder}/decoder_model_merged.onnx`, hasFloatProducts: true }
    return new MoonshineModel(name, await openModel(encoder, options), await openModel(decoder, options))
  }

  /**
   * Transcribes a piece of a few seconds that certainly contains speech, as far as it gets before `isStopped`: freely,
   * and along the sentences of a graph if there is one.
   */
  async listen(
    speech: Float32Array,
    isStopped: () => boolean,
    { hearing = HEARINGS[0], allowed, names }: ListenOptions = {},
  ): Promise<Listened> {
    const { silenceBefore, beam } = hearing
    const samples = preparePiece(speech, silenceBefore)
    const input = new Tensor('float32', samples, [1, samples.length])
    const { last_hidden_state: sound } = await this.#encoder.run({ input_values: input })
    const decoder = new Decoder(this.#decoder, MODELS[this.#name].shape, sound as Tensor)
    const first = await decoder.first()
    const write = (...writings: Writing[]) =>
      writeTogether(writings, {
        first,
        advance: (...step) => decoder.advance(...step),
        most: beam.first.width,
        isStopped,
      })
    const mostTokens = Math.ceil(secondsOf(samples) * TOKENS_PER_SECOND)
    const free = new FreeText(mostTokens)
    const floor = () => (free.hasEnded ? free.score - FLOOR_BELOW_FREE : Number.NEGATIVE_INFINITY)
    const search =
      allowed && new SentenceSearch({ allowed, mostTokens: mostTokens + MORE_TOKENS, floor, beam })
    await write(free, ...(search ? [search] : []))
    const heard = { text: textOf(free.tokens), score: free.score, sentences: search?.sentences() ?? [] }
    if (!names || !isUnsure(heard)) return heard
    const named = new NamedText({ names, mostTokens, freeScore: free.score })
    await write(named)
    return named.tokens ? { ...heard, withNames: textOf(named.tokens) } : heard
  }

  /** The first run allocates; nobody should have to wait for that. */
  async warmUp(): Promise<void> {
    await this.listen(new Float32Array(SAMPLE_RATE), () => false)
  }
}

/** Tokens beyond the tokenizer's are markers without text. Nobody speaks quotation marks. */
function textOf(tokens: readonly number[]): string {
  const words = tokens.filter(token => token < llamaTokenizer.vocabById.length)
  return llamaTokenizer
    .decode([START_TOKEN, ...words])
    .replace(/["“”]/g, '')
    .trim()
}
