import { availableParallelism } from 'node:os'
import llamaTokenizer from 'llama-tokenizer-js'
import type { InferenceSession } from 'onnxruntime-common'
import { SAMPLE_RATE, secondsOf } from '../audio/samples.ts'
import { openModel } from './model-session.ts'
import { Tensor } from './onnx-runtime.ts'
import { withoutLoop } from './repetition.ts'

type Tensors = Record<string, Tensor>

const START_TOKEN = 1
const END_TOKEN = 2
const LAYERS = 6
const HEADS = 8
const HEAD_SIZE = 36
/** Nobody speaks faster; a model that writes more is inventing. */
const TOKENS_PER_SECOND = 6.5
/** More threads than these only wait for each other in a model this small. */
const MOST_THREADS = 4

/** Turns a piece of speech into text with Moonshine's tiny English model. */
export class MoonshineModel {
  readonly #encoder: InferenceSession
  readonly #decoder: InferenceSession

  private constructor(encoder: InferenceSession, decoder: InferenceSession) {
    this.#encoder = encoder
    this.#decoder = decoder
  }

  static async load(): Promise<MoonshineModel> {
    const options = { intraOpNumThreads: Math.min(availableParallelism(), MOST_THREADS) }
    const open = (name: string) => {
      const file = `./model/tiny/quantized/${name}.onnx`
      return openModel({ package: '@moonshine-ai/moonshine-js', file }, options)
    }
    return new MoonshineModel(await open('encoder_model'), await open('decoder_model_merged'))
  }

  /**
   * The words of a piece of a few seconds in which somebody speaks for certain, as far as it gets before
   * `isStopped`. It has to begin with a word: left to itself the model passes over one short sentence in four.
   */
  async transcribe(samples: Float32Array, isStopped: () => boolean): Promise<string> {
    const input = new Tensor('float32', samples, [1, samples.length])
    const { last_hidden_state: heard } = await this.#encoder.run({ input_values: input })
    const tokens: number[] = []
    const mostTokens = Math.ceil(secondsOf(samples) * TOKENS_PER_SECOND)
    const steps = this.#steps(heard as Tensor)
    while (tokens.length < mostTokens && !isStopped()) {
      const token = await steps(tokens.at(-1) ?? START_TOKEN)
      if (token === END_TOKEN) break
      tokens.push(token)
      const sane = withoutLoop(tokens)
      if (sane.length < tokens.length) return textOf(sane)
    }
    return textOf(tokens)
  }

  /** A function from the last token to the next one; it remembers what came before. */
  #steps(heard: Tensor): (token: number) => Promise<number> {
    let past = emptyPast()
    let isFirst = true
    return async token => {
      const outputs = await this.#decoder.run({
        input_ids: new Tensor('int64', BigInt64Array.of(BigInt(token)), [1, 1]),
        encoder_hidden_states: heard,
        use_cache_branch: new Tensor('bool', [!isFirst], [1]),
        ...past,
      })
      past = nextPast(past, outputs as Tensors, isFirst)
      const mayEnd = !isFirst
      isFirst = false
      return likeliest((outputs.logits as Tensor).data as Float32Array, mayEnd)
    }
  }

  /** The first run allocates; a person should not wait for that. */
  async warmUp(): Promise<void> {
    await this.transcribe(new Float32Array(SAMPLE_RATE), () => false)
  }
}

function emptyPast(): Tensors {
  const names = Array.from({ length: LAYERS }, (_, layer) =>
    ['decoder.key', 'decoder.value', 'encoder.key', 'encoder.value'].map(
      name => `past_key_values.${layer}.${name}`,
    ),
  ).flat()
  const empty = () => new Tensor('float32', new Float32Array(0), [0, HEADS, 1, HEAD_SIZE])
  return Object.fromEntries(names.map(name => [name, empty()]))
}

/** What the encoder gave is in the outputs of the first step only, and stays. */
function nextPast(past: Tensors, outputs: Tensors, isFirst: boolean): Tensors {
  const next = ([name, before]: [string, Tensor]): [string, Tensor] => {
    const changes = isFirst || name.includes('.decoder.')
    return [name, (changes && outputs[name.replace('past_key_values', 'present')]) || before]
  }
  return Object.fromEntries(Object.entries(past).map(next))
}

function likeliest(logits: Float32Array, mayEnd: boolean): number {
  let best = 0
  let highest = Number.NEGATIVE_INFINITY
  logits.forEach((logit, token) => {
    if (logit > highest && (mayEnd || token !== END_TOKEN)) {
      highest = logit
      best = token
    }
  })
  return best
}

/** Tokens beyond the tokenizer's are marks without a text. Nobody speaks quotation marks. */
function textOf(tokens: readonly number[]): string {
  const words = tokens.filter(token => token < llamaTokenizer.vocabById.length)
  return llamaTokenizer
    .decode([START_TOKEN, ...words])
    .replace(/["“”]/g, '')
    .trim()
}
