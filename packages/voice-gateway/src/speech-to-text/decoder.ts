import type { InferenceSession, Tensor as OnnxTensor } from 'onnxruntime-common'

type Tensors = Record<string, OnnxTensor>

/** The scores of all tokens as the next of one text. `logits` are unnormalized. */
export interface Row {
  logits: Float32Array
  /** Log-sum-exp of the logits. */
  logSum: number
}

/** Texts being decoded in parallel: the scores for what follows each, and the decoder's cache. */
export interface DecoderState {
  rows: readonly Row[]
  past: Tensors
}

/** Logits this far below the highest do not count. */
const NEGLIGIBLE = 14
export const START_TOKEN = 1
export const END_TOKEN = 2

interface DecoderOptions {
  session: InferenceSession
  /** The decoder's layers, heads per layer, and head size. */
  shape: { layers: number; heads: number; headSize: number }
  /** What the encoder heard. */
  heard: OnnxTensor
  Tensor: typeof OnnxTensor
}

/** Decodes what the encoder heard, several texts at once. A state can be continued in many ways. */
export class Decoder {
  readonly #options: DecoderOptions

  constructor(options: DecoderOptions) {
    this.#options = options
  }

  first(): Promise<DecoderState> {
    return this.#run([START_TOKEN], this.#emptyPast(), false)
  }

  /** The state after these tokens; each continues the row given in `from`. */
  advance({ past, rows }: DecoderState, tokens: readonly number[], from: readonly number[]) {
    const isSame = from.length === rows.length && from.every((row, index) => row === index)
    return this.#run(tokens, isSame ? past : this.#chosenRows(past, from), true)
  }

  async #run(tokens: readonly number[], past: Tensors, hasPast: boolean): Promise<DecoderState> {
    const { session, heard, Tensor } = this.#options
    const outputs = (await session.run({
      input_ids: new Tensor('int64', BigInt64Array.from(tokens, BigInt), [tokens.length, 1]),
      encoder_hidden_states: heard,
      use_cache_branch: new Tensor('bool', [hasPast], [1]),
      ...past,
    })) as Tensors
    const logits = outputs.logits?.data as Float32Array
    const size = logits.length / tokens.length
    const rows = tokens.map((_, row) => rowOf(logits.subarray(row * size, (row + 1) * size)))
    // The encoder's part is only in the first step's outputs, and stays the same for all texts.
    const next = ([name, before]: [string, OnnxTensor]): [string, OnnxTensor] => {
      const changes = !hasPast || name.includes('.decoder.')
      return [name, (changes && outputs[name.replace('past_key_values', 'present')]) || before]
    }
    return { rows, past: Object.fromEntries(Object.entries(past).map(next)) }
  }

  #emptyPast(): Tensors {
    const { shape, Tensor } = this.#options
    const { layers, heads, headSize } = shape
    const parts = ['decoder.key', 'decoder.value', 'encoder.key', 'encoder.value']
    const names = Array.from({ length: layers }, (_, layer) =>
      parts.map(part => `past_key_values.${layer}.${part}`),
    )
    const empty = () => new Tensor('float32', new Float32Array(0), [0, heads, 1, headSize])
    return Object.fromEntries(names.flat().map(name => [name, empty()]))
  }

  #chosenRows(past: Tensors, from: readonly number[]): Tensors {
    const choose = ([name, tensor]: [string, OnnxTensor]): [string, OnnxTensor] => {
      if (!name.includes('.decoder.')) return [name, tensor]
      const [rows = 1, ...rest] = tensor.dims
      const data = tensor.data as Float32Array
      const size = data.length / rows
      const chosen = new Float32Array(size * from.length)
      from.forEach((row, index) => {
        chosen.set(data.subarray(row * size, (row + 1) * size), index * size)
      })
      return [name, new this.#options.Tensor('float32', chosen, [from.length, ...rest])]
    }
    return Object.fromEntries(Object.entries(past).map(choose))
  }
}

export function logProbability({ logits, logSum }: Row, token: number): number {
  return (logits[token] ?? Number.NEGATIVE_INFINITY) - logSum
}

/** Plain loops, because each step has half a million values; those far below the highest add nothing. */
function rowOf(logits: Float32Array): Row {
  let highest = Number.NEGATIVE_INFINITY
  for (let at = 0; at < logits.length; at++) {
    const logit = logits[at] as number
    if (logit > highest) highest = logit
  }
  let sum = 0
  for (let at = 0; at < logits.length; at++) {
    const below = highest - (logits[at] as number)
    if (below < NEGLIGIBLE) sum += Math.exp(-below)
  }
  return { logits, logSum: highest + Math.log(sum) }
}
