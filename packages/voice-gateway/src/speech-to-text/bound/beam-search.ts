import { type DecoderState, logProbability, type Row } from '../decoder.ts'
import type { HeardSentence } from '../transcriber.ts'
import type { AllowedTokens } from './allowed-tokens.ts'
import type { LetterNode } from './letter-tree.ts'

export interface BeamOptions {
  allowed: AllowedTokens
  /** The decoder after its first step. */
  first: DecoderState
  advance(state: DecoderState, tokens: readonly number[], from: readonly number[]): Promise<DecoderState>
  endToken: number
  mostTokens: number
  /** What is less likely than this is not followed. */
  floor: number
  /** It takes half as long again, and finds more. */
  isWide?: boolean | undefined
  isStopped(): boolean
}

interface Hypothesis {
  node: LetterNode
  /** The words before the one that is being written. */
  said: string
  score: number
  /** The row of the decoder that it continues, and the token that it adds. */
  row: number
  token: number
}

/** How many hypotheses are followed, and how much less likely than the best of them: anything can come at the beginning. */
const AT_FIRST = { tokens: 4, width: 8, below: 14 }
/** The same if there is time: many names begin alike, and the right one is not always among the first. */
const AT_FIRST_IF_WIDE = { tokens: 7, width: 16, below: 14 }
const LATER = { width: 6, below: 9 }
const MOST_SENTENCES = 12
/** What is so much less likely than the best sentence says nothing about it any more. */
const OF_INTEREST = 9

/** The likeliest sentences of a graph for what was heard, best first; none if all are below the floor. */
export async function beamSearch(options: BeamOptions): Promise<HeardSentence[]> {
  const { allowed, advance, first, mostTokens, isStopped } = options
  const atFirst = options.isWide ? AT_FIRST_IF_WIDE : AT_FIRST
  const finished = new Map<string, number>()
  let state = first
  let beam: Hypothesis[] = [{ node: allowed.start(), said: '', score: 0, row: 0, token: 0 }]
  for (let length = 0; length <= mostTokens && !isStopped(); length++) {
    const limits = length < atFirst.tokens ? atFirst : LATER
    beam = likely(widened(beam, state.rows, options, finished), limits)
    if (beam.length === 0) break
    state = await advance(
      state,
      beam.map(({ token }) => token),
      beam.map(({ row }) => row),
    )
    beam = beam.map((hypothesis, row) => ({ ...hypothesis, row }))
  }
  return [...finished]
    .map(([text, score]) => ({ text, score }))
    .sort((a, b) => b.score - a.score)
    .slice(0, MOST_SENTENCES)
}

/** Each hypothesis with each token that may follow it, best first; what has ended goes to `finished`. */
function widened(
  beam: readonly Hypothesis[],
  rows: readonly Row[],
  { allowed, endToken, floor }: BeamOptions,
  finished: Map<string, number>,
): Hypothesis[] {
  const next = new Map<string, Hypothesis>()
  const best = Math.max(floor + OF_INTEREST, ...finished.values())
  const finish = (text: string, score: number) => {
    if (score > (finished.get(text) ?? floor)) finished.set(text, score)
  }
  for (const { node, said, score, row } of beam) {
    const logits = rows[row] as Row
    const { tokens, mayEnd } = allowed.from(node)
    if (mayEnd) finish(joined(said, node.words), score + logProbability(logits, endToken))
    for (const { token, to, endsWord } of tokens) {
      const likelihood = score + logProbability(logits, token)
      if (likelihood < Math.max(floor, best - OF_INTEREST)) continue
      const words = endsWord ? joined(said, node.words) : said
      const key = keyOf(words, to)
      if ((next.get(key)?.score ?? Number.NEGATIVE_INFINITY) < likelihood)
        next.set(key, { node: to, said: words, score: likelihood, row, token })
    }
  }
  return [...next.values()].sort((a, b) => b.score - a.score)
}

/** Those worth following, of hypotheses that stand best first. */
function likely(
  beam: readonly Hypothesis[],
  { width, below }: { width: number; below: number },
): Hypothesis[] {
  const least = (beam[0]?.score ?? 0) - below
  return beam.slice(0, width).filter(({ score }) => score >= least)
}

/** What differs in case, punctuation or the way in which a number is written is one. */
function keyOf(said: string, node: LetterNode): string {
  const isWhole = node.after !== undefined && node.letters.size === 0
  return isWhole ? joined(said, node.words) : `${said}|${node.id}`
}

function joined(said: string, words: string): string {
  return said === '' || words === '' ? said + words : `${said} ${words}`
}
