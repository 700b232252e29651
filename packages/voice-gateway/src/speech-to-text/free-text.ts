import { END_TOKEN, logProbability, type Row } from './decoder.ts'
import { withoutLoop } from './repetition.ts'
import type { Step, Writing } from './write-together.ts'

/**
 * Greedy decoding. It must begin with a word: left to itself, the model outputs nothing for one short sentence in
 * four.
 */
export class FreeText implements Writing {
  tokens: readonly number[] = []
  score = 0
  hasEnded = false
  readonly #mostTokens: number

  constructor(mostTokens: number) {
    this.#mostTokens = mostTokens
  }

  next([row]: readonly Row[]): Step[] {
    const token = likeliest(row as Row, this.tokens.length > 0)
    this.score += logProbability(row as Row, token)
    if (token === END_TOKEN) return this.#end(this.tokens)
    const tokens = [...this.tokens, token]
    const sane = withoutLoop(tokens)
    if (sane.length < tokens.length || tokens.length >= this.#mostTokens) return this.#end(sane)
    this.tokens = tokens
    return [{ token, row: 0 }]
  }

  #end(tokens: readonly number[]): Step[] {
    this.tokens = tokens
    this.hasEnded = true
    return []
  }
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
