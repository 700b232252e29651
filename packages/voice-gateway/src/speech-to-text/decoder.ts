import type { InferenceSession } from 'onnxruntime-common'
import { Tensor } from './onnx-runtime.ts'

type Tensors = Record<string, Tensor>

/** The decoder's layers, heads per layer, and head size. */
export interface DecoderShape {
  layers: number
  heads: number
  headSize: number
}

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

export const START_TOKEN = 1
export const END_TOKEN = 2
/** The most texts per run: with more, the model's memory grows faster than its speed. */
const MOST_ROWS = 32

/** Decodes what the encoder heard, several texts at once, token by token. A state can be continued in many ways. */
export class Decoder {
  readonly #session: InferenceSession
  readonly #shape: DecoderShape
  readonly #heard: Tensor

  constructor(session: InferenceSession, shape: DecoderShape, heard: Tensor) {
    this.#session = session
    this.#shape = shape
    this.#heard = heard
  }

  first(): Promise<DecoderState> {
    return this.#run([START_TOKEN], emptyPast(this.#shape), false)
  }

  /** The state after these tokens; each continues the row given in `from`. */
  async advance(
    state: DecoderState,
    tokens: readonly number[],
    from: readonly number[],
  ): Promise<DecoderState> {
    const parts: DecoderState[] = []
    for (let at = 0; at < tokens.length; at += MOST_ROWS)
      parts.push(await this.#advance(state, tokens.slice(at, at + MOST_ROWS), from.slice(at, at + MOST_ROWS)))
    return joined(parts)
  }

  #advance(
    { past, rows }: DecoderState,
    tokens: readonly number[],
    from: readonly number[],
  ): Promise<DecoderState> {
    const isSame = from.length === rows.length && from.every((row, index) => row === index)
    return this.#run(tokens, isSame ? past : chosenRows(past, from), true)
  }

  async #run(tokens: readonly number[], past: Tensors, hasPast: boolean): Promise<DecoderState> {
    const outputs = await this.#session.run({
      input_ids: new Tensor('int64', BigInt64Array.from(tokens, BigInt), [tokens.length, 1]),
      encoder_hidden_states: this.#heard,
      use_cache_branch: new Tensor('bool', [hasPast], [1]),
      ...past,
    })
    const logits = (outputs.logits as Tensor).data as Float32Array
    const size = logits.length / tokens.length
    const rows = tokens.map((_, row) => rowOf(logits.subarray(row * size, (row + 1) * size)))
    return { rows, past: nextPast(past, outputs as Tensors, !hasPast) }
  }
}

export function logProbability({ logits, logSum }: Row, token: number): number {
  return (logits[token] ?? Number.NEGATIVE_INFINITY) - logSum
}

/** Anything this much less likely than the best adds nothing to the sum. */
const NEGLIGIBLE = 14

/** Plain loops, because each step has half a million values. */
function rowOf(logits: Float32Array): Row {
  const { length } = logits
  let highest = Number.NEGATIVE_INFINITY
  for (let at = 0; at < length; at++) highest = Math.max(highest, logits[at] as number)
  let sum = 0
  for (let at = 0; at < length; at++) {
    const below = (logits[at] as number) - highest
    if (below > -NEGLIGIBLE) sum += Math.exp(below)
  }
  return { logits, logSum: highest + Math.log(sum) }
}

function emptyPast({ layers, heads, headSize }: DecoderShape): Tensors {
  const names = Array.from({ length: layers }, (_, layer) =>
    ['decoder.key', 'decoder.value', 'encoder.key', 'encoder.value'].map(
      name => `past_key_values.${layer}.${name}`,
    ),
  ).flat()
  const empty = () => new Tensor('float32', new Float32Array(0), [0, heads, 1, headSize])
  return Object.fromEntries(names.map(name => [name, empty()]))
}

/** The encoder's part is only in the first step's outputs, and stays the same for all texts. */
function nextPast(past: Tensors, outputs: Tensors, isFirst: boolean): Tensors {
  const next = ([name, before]: [string, Tensor]): [string, Tensor] => {
    const changes = isFirst || name.includes('.decoder.')
    return [name, (changes && outputs[name.replace('past_key_values', 'present')]) || before]
  }
  return Object.fromEntries(Object.entries(past).map(next))
}

function joined(parts: readonly DecoderState[]): DecoderState {
  const [first, ...others] = parts
  if (!first || others.length === 0) return first ?? { rows: [], past: {} }
  const join = ([name, tensor]: [string, Tensor]): [string, Tensor] => {
    if (!name.includes('.decoder.')) return [name, tensor]
    const pasts = parts.map(({ past }) => past[name] as Tensor)
    const data = new Float32Array(pasts.reduce((sum, { size }) => sum + size, 0))
    let at = 0
    for (const past of pasts) {
      data.set(past.data as Float32Array, at)
      at += past.size
    }
    return [
      name,
      new Tensor('float32', data, [parts.flatMap(({ rows }) => rows).length, ...tensor.dims.slice(1)]),
    ]
  }
  return {
    rows: parts.flatMap(({ rows }) => rows),
    past: Object.fromEntries(Object.entries(first.past).map(join)),
  }
}

function chosenRows(past: Tensors, from: readonly number[]): Tensors {
  const choose = ([name, tensor]: [string, Tensor]): [string, Tensor] => {
    if (!name.includes('.decoder.')) return [name, tensor]
    const [rows = 1, ...rest] = tensor.dims
    const data = tensor.data as Float32Array
    const size = data.length / rows
    const chosen = new Float32Array(size * from.length)
    from.forEach((row, index) => {
      chosen.set(data.subarray(row * size, (row + 1) * size), index * size)
    })
    return [name, new Tensor('float32', chosen, [from.length, ...rest])]
  }
  return Object.fromEntries(Object.entries(past).map(choose))
}
