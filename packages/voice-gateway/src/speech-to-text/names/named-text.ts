import { END_TOKEN, logProbability, type Row } from '../decoder.ts'
import type { Step, Writing } from '../write-together.ts'
import type { NamePlace, NameTree } from './name-tree.ts'

interface Text extends Step {
  tokens: readonly number[]
  score: number
  place: NamePlace
}

/** A name must be followed until complete, alongside likelier texts without it. */
const WIDTH = 4
const LIKELIEST = 4

/** The likeliest text with a name in it, if likelier than the free transcript. */
export class NamedText implements Writing {
  /** Undefined if the free transcript is likelier. */
  tokens: readonly number[] | undefined
  readonly #names: NameTree
  readonly #mostTokens: number
  #best: number
  #texts: readonly Text[]

  constructor({ names, mostTokens, freeScore }: { names: NameTree; mostTokens: number; freeScore: number }) {
    this.#names = names
    this.#mostTokens = mostTokens
    this.#best = freeScore
    this.#texts = [{ tokens: [], score: 0, place: names.start(), token: 0, row: 0 }]
  }

  next(rows: readonly Row[]): readonly Step[] {
    this.#texts.forEach((text, index) => {
      this.#end(text, rows[index] as Row)
    })
    const isLong = (this.#texts[0]?.tokens.length ?? 0) >= this.#mostTokens
    const longer = isLong
      ? []
      : this.#texts.flatMap((text, index) => this.#continued(text, rows[index] as Row, index))
    this.#texts = longer.sort((a, b) => b.score - a.score).slice(0, WIDTH)
    return this.#texts
  }

  #end({ tokens, score, place }: Text, row: Row): void {
    const whole = score + logProbability(row, END_TOKEN) - this.#names.lostAtEnd(place)
    if (whole <= this.#best) return
    this.#best = whole
    this.tokens = tokens
  }

  #continued(text: Text, row: Row, index: number): Text[] {
    const tokens = this.#names.expected(text.place)
    for (const token of likeliest(row)) tokens.add(token)
    tokens.delete(END_TOKEN)
    return [...tokens].map(token => {
      const { place, gain } = this.#names.after(text.place, token)
      const score = text.score + logProbability(row, token) + gain
      return { tokens: [...text.tokens, token], score, place, token, row: index }
    })
  }
}

function likeliest({ logits }: Row): number[] {
  const found: number[] = []
  logits.forEach((logit, token) => {
    const last = found[LIKELIEST - 1]
    if (last !== undefined && logit <= (logits[last] as number)) return
    const at = found.findIndex(other => logit > (logits[other] as number))
    found.splice(at < 0 ? found.length : at, 0, token)
    found.length = Math.min(found.length, LIKELIEST)
  })
  return found
}
