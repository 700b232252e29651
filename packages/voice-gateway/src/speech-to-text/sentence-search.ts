import type { AllowedTokens, TokenNode } from './allowed-tokens.ts'
import { type Decoder, END_TOKEN, logProbability, type Row } from './decoder.ts'
import type { HeardSentence } from './transcriber.ts'

/** A beginning of a sentence: the last token, and the row of the decoder that it continues. */
interface Hypothesis {
  token: number
  row: number
  node: TokenNode
  /** The words before the current one. */
  said: string
  score: number
}

interface SearchOptions {
  decoder: Decoder
  /** The sentences to listen for. */
  allowed: AllowedTokens | undefined
  mostTokens: number
  isStopped(): boolean
}

/** How many hypotheses are followed, and how far below the best: the right one is not always among the best at first. */
const FIRST_TOKENS = 5
const FIRST = { width: 24, belowBest: 9 }
const LATER = { width: 14, belowBest: 6 }
/** Sentences this much less likely than the best one, or than the free transcript, were not said. */
const BELOW_BEST = 9
const BELOW_FREE = 18
const MOST_SENTENCES = 8
/** Figures and the final punctuation mark take a few more tokens than the words heard. */
const MORE_TOKENS = 8
/** A speech model that gets stuck in a loop does not notice by itself; people do repeat a single word a few times. */
const LONGEST_LOOP = 10
const MOST_REPEATS = 5

/**
 * Decodes freely, then along the sentences of a graph. Not in the same runs: the model is quantized, and what is decoded
 * beside a text changes its scores.
 */
export async function search({ decoder, allowed, mostTokens, isStopped }: SearchOptions) {
  const first = await decoder.first()
  const free = { tokens: [] as number[], score: 0, hasEnded: false }
  for (let state = first; !isStopped(); ) {
    continueFree(free, state.rows[0] as Row, mostTokens)
    if (free.hasEnded) break
    state = await decoder.advance(state, [free.tokens.at(-1) as number], [0])
  }
  const finished = new Map<string, number>()
  const leastScore = () =>
    Math.max(free.score - BELOW_FREE, ...[...finished.values()].map(score => score - BELOW_BEST))

  /** Extends each hypothesis by each allowed token, likeliest first; keeps the sentences that may end here. */
  const widened = (beam: readonly Hypothesis[], rows: readonly Row[], from: AllowedTokens) => {
    const next = new Map<string, Hypothesis>()
    const least = leastScore()
    beam.forEach(({ node, said, score }, row) => {
      const logits = rows[row] as Row
      const { tokens, mayEnd } = from.from(node)
      const whole = joined(said, node.words)
      const ended = score + logProbability(logits, END_TOKEN)
      if (mayEnd && ended > (finished.get(whole) ?? Number.NEGATIVE_INFINITY)) finished.set(whole, ended)
      for (const { token, to, endsWord } of tokens) {
        const likelihood = score + logProbability(logits, token)
        if (likelihood < least) continue
        const words = endsWord ? whole : said
        // Hypotheses that differ only in case, punctuation or the spelling of a number are the same.
        const isWhole = to.after !== undefined && to.next === undefined
        const key = isWhole ? joined(words, to.words) : `${words}|${to.id}`
        if ((next.get(key)?.score ?? Number.NEGATIVE_INFINITY) < likelihood)
          next.set(key, { node: to, said: words, score: likelihood, row, token })
      }
    })
    return [...next.values()].sort((a, b) => b.score - a.score)
  }
  let beam: Hypothesis[] = allowed ? [{ node: allowed.start(), said: '', score: 0, row: 0, token: 0 }] : []
  let state = first
  for (let length = 0; allowed && !isStopped() && length <= mostTokens + MORE_TOKENS; length++) {
    const { width, belowBest } = length < FIRST_TOKENS ? FIRST : LATER
    beam = widened(beam, state.rows, allowed).slice(0, width)
    beam = beam.filter(({ score }) => score >= (beam[0]?.score ?? 0) - belowBest)
    if (beam.length === 0) break
    const tokens = beam.map(({ token }) => token)
    const rows = beam.map(({ row }) => row)
    state = await decoder.advance(state, tokens, rows)
  }
  const sentences: HeardSentence[] = [...finished]
    .map(([text, score]) => ({ text, score }))
    .filter(({ score }) => score > leastScore())
    .sort((a, b) => b.score - a.score)
    .slice(0, MOST_SENTENCES)
  return { tokens: free.tokens, score: free.score, sentences }
}

/** Greedily. It must begin with a word: left to itself, the model outputs nothing for one short sentence in four. */
function continueFree(
  free: { tokens: number[]; score: number; hasEnded: boolean },
  row: Row,
  mostTokens: number,
): void {
  let token = free.tokens.length > 0 ? END_TOKEN : 0
  row.logits.forEach((logit, other) => {
    if (logit > (row.logits[token] as number) && (free.tokens.length > 0 || other !== END_TOKEN))
      token = other
  })
  free.score += logProbability(row, token)
  if (token !== END_TOKEN) free.tokens.push(token)
  const looped = loopAtEnd(free.tokens)
  free.tokens.length -= looped
  free.hasEnded = token === END_TOKEN || looped > 0 || free.tokens.length >= mostTokens
}

/** How many tokens at the end only repeat those before them. */
function loopAtEnd(tokens: readonly number[]): number {
  for (let length = 1; length <= LONGEST_LOOP; length++) {
    const end = tokens.slice(-length * MOST_REPEATS)
    if (end.length === length * MOST_REPEATS && end.every((token, index) => token === end[index % length]))
      return length * (MOST_REPEATS - 1)
  }
  return 0
}

function joined(said: string, words: string): string {
  return said === '' || words === '' ? said + words : `${said} ${words}`
}
