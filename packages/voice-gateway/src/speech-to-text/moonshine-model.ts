import { availableParallelism } from 'node:os'
import llamaTokenizer from 'llama-tokenizer-js'
import type { InferenceSession } from 'onnxruntime-common'
import { SAMPLE_RATE, secondsOf } from '../audio/samples.ts'
import type { AllowedTokens } from './bound/allowed-tokens.ts'
import { beamSearch } from './bound/beam-search.ts'
import { Decoder, type DecoderState, logProbability, type Row, START_TOKEN } from './decoder.ts'
import { openModel } from './model-session.ts'
import { MODELS, type ModelName } from './models.ts'
import { Tensor } from './onnx-runtime.ts'
import { withoutLoop } from './repetition.ts'
import type { Listened } from './transcriber.ts'

const END_TOKEN = 2
/** Nobody speaks faster; a model that writes more is inventing. */
const TOKENS_PER_SECOND = 6.5
/** More threads than these only wait for each other in a model this small. */
const MOST_THREADS = 4
/** Sentences that are so much less likely than what was heard freely are not what was said. */
const FLOOR_BELOW_FREE = 25
/** Figures and the mark at the end take a few tokens more than the words that were heard. */
const MORE_TOKENS = 8

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
    const open = (file: string) => openModel({ package: from, file: `${folder}/${file}.onnx` }, options)
    return new MoonshineModel(name, await open('encoder_model'), await open('decoder_model_merged'))
  }

  /**
   * What is said in a piece of a few seconds in which somebody speaks for certain, as far as it gets before `isStopped`:
   * freely, and along the sentences of a graph if there is one.
   */
  async listen(
    samples: Float32Array,
    isStopped: () => boolean,
    { allowed, isWide }: { allowed?: AllowedTokens | undefined; isWide?: boolean } = {},
  ): Promise<Listened> {
    const input = new Tensor('float32', samples, [1, samples.length])
    const { last_hidden_state: heard } = await this.#encoder.run({ input_values: input })
    const decoder = new Decoder(this.#decoder, MODELS[this.#name].shape, heard as Tensor)
    const first = await decoder.first()
    const mostTokens = Math.ceil(secondsOf(samples) * TOKENS_PER_SECOND)
    const free = await writeFreely(decoder, first, { mostTokens, isStopped })
    const sentences = allowed
      ? await beamSearch({
          allowed,
          first,
          advance: (state, tokens, from) => decoder.advance(state, tokens, from),
          endToken: END_TOKEN,
          mostTokens: mostTokens + MORE_TOKENS,
          floor: free.score - FLOOR_BELOW_FREE,
          isWide,
          isStopped,
        })
      : []
    return { text: textOf(free.tokens), score: free.score, sentences }
  }

  /** The first run allocates; a person should not wait for that. */
  async warmUp(): Promise<void> {
    await this.listen(new Float32Array(SAMPLE_RATE), () => false)
  }
}

/** The likeliest token, again and again. It has to begin with a word: left to itself the model passes over one short sentence in four. */
async function writeFreely(
  decoder: Decoder,
  first: DecoderState,
  { mostTokens, isStopped }: { mostTokens: number; isStopped(): boolean },
): Promise<{ tokens: readonly number[]; score: number }> {
  const tokens: number[] = []
  let state = first
  let score = 0
  while (tokens.length < mostTokens && !isStopped()) {
    const row = state.rows[0] as Row
    const token = likeliest(row, tokens.length > 0)
    score += logProbability(row, token)
    if (token === END_TOKEN) break
    tokens.push(token)
    const sane = withoutLoop(tokens)
    if (sane.length < tokens.length) return { tokens: sane, score }
    state = await decoder.advance(state, [token], [0])
  }
  return { tokens, score }
}

function likeliest({ logits }: Row, mayEnd: boolean): number {
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
