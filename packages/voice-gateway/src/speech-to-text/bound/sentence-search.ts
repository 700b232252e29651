import { END_TOKEN, logProbability, type Row } from '../decoder.ts'
import type { HeardSentence } from '../transcriber.ts'
import type { Step, Writing } from '../write-together.ts'
import type { AllowedTokens } from './allowed-tokens.ts'
import type { LetterNode } from './letter-tree.ts'

export interface SearchOptions {
  allowed: AllowedTokens
  mostTokens: number
  /** Anything less likely is not followed. It may become known during the search. */
  floor(): number
  beam: Beam
}

/** How many hypotheses are followed, and how far below the best. */
interface Breadth {
  width: number
  below: number
}

/** At the beginning anything is possible; many names begin alike, and the right one is not always among the best. */
export interface Beam {
  /** For this many tokens. */
  first: Breadth & { tokens: number }
  later: Breadth
}

interface Hypothesis extends Step {
  node: LetterNode
  /** The words before the current one. */
  said: string
  score: number
}

const MOST_SENTENCES = 12
/** Sentences this much less likely than the best are irrelevant. */
const OF_INTEREST = 9

/** Beam search for the sentences of a graph that best match what was heard. */
export class SentenceSearch implements Writing {
  readonly #options: SearchOptions
  readonly #finished = new Map<string, number>()
  #beam: readonly Hypothesis[]
  #length = 0

  constructor(options: SearchOptions) {
    this.#options = options
    this.#beam = [{ node: options.allowed.start(), said: '', score: 0, row: 0, token: 0 }]
  }

  next(rows: readonly Row[], most: number): readonly Step[] {
    const { beam: breadth, mostTokens } = this.#options
    const { width, below } = this.#length < breadth.first.tokens ? breadth.first : breadth.later
    const beam = this.#widened(rows).sort((a, b) => b.score - a.score)
    const least = (beam[0]?.score ?? 0) - below
    const likely = beam.slice(0, Math.min(width, most)).filter(({ score }) => score >= least)
    this.#beam = this.#length++ < mostTokens ? likely : []
    return this.#beam
  }

  /** The likeliest sentences, best first; none if all are below the floor. */
  sentences(): HeardSentence[] {
    return [...this.#finished]
      .map(([text, score]) => ({ text, score }))
      .filter(({ score }) => score > this.#options.floor())
      .sort((a, b) => b.score - a.score)
      .slice(0, MOST_SENTENCES)
  }

  /** Extends each hypothesis by each allowed token; keeps those that may end here. */
  #widened(rows: readonly Row[]): Hypothesis[] {
    const { allowed } = this.#options
    const next = new Map<string, Hypothesis>()
    const least = this.#least()
    this.#beam.forEach(({ node, said, score }, row) => {
      const logits = rows[row] as Row
      const { tokens, mayEnd } = allowed.from(node)
      if (mayEnd) this.#finish(joined(said, node.words), score + logProbability(logits, END_TOKEN))
      for (const { token, to, endsWord } of tokens) {
        const likelihood = score + logProbability(logits, token)
        if (likelihood < least) continue
        const words = endsWord ? joined(said, node.words) : said
        const key = keyOf(words, to)
        if ((next.get(key)?.score ?? Number.NEGATIVE_INFINITY) < likelihood)
          next.set(key, { node: to, said: words, score: likelihood, row, token })
      }
    })
    return [...next.values()]
  }

  #least(): number {
    const floor = this.#options.floor()
    return Math.max(floor, ...[...this.#finished.values()].map(score => score - OF_INTEREST))
  }

  #finish(text: string, score: number): void {
    if (score > (this.#finished.get(text) ?? Number.NEGATIVE_INFINITY)) this.#finished.set(text, score)
  }
}

/** Hypotheses that differ only in case, punctuation or the spelling of a number are the same. */
function keyOf(said: string, node: LetterNode): string {
  const isWhole = node.after !== undefined && node.letters.size === 0
  return isWhole ? joined(said, node.words) : `${said}|${node.id}`
}

function joined(said: string, words: string): string {
  return said === '' || words === '' ? said + words : `${said} ${words}`
}
