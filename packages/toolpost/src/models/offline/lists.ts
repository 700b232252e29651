import { type Request, type Taking, WEIGHTS } from './request.ts'
import { nameTokens } from './tokens.ts'

/** A list that a slot reads its value from. */
export interface ListReader {
  /** The entries named at a position of a request. */
  read(request: Request, at: number): readonly Taking[]
  /** How its entries are spoken, word by word. */
  phrases(): Iterable<readonly string[]>
}

/** A value and the ways to say it. */
export interface ListEntry {
  value: unknown
  say: readonly string[]
}

interface Place {
  next: Map<string, Place>
  values: unknown[]
}

/** Entries named by exact words, up to small misspellings. Stored as a trie of words. */
export class WordList implements ListReader {
  readonly #root: Place = { next: new Map(), values: [] }
  readonly #phrases: (readonly string[])[] = []

  constructor(entries: Iterable<ListEntry>) {
    for (const { value, say } of entries) for (const phrase of say) this.#add(nameTokens(phrase), value)
  }

  #add(tokens: readonly string[], value: unknown): void {
    if (tokens.length === 0) return
    let place = this.#root
    for (const token of tokens) {
      const next = place.next.get(token) ?? { next: new Map(), values: [] }
      place.next.set(token, next)
      place = next
    }
    if (place.values.length === 0) this.#phrases.push(tokens)
    place.values.push(value)
  }

  read(request: Request, at: number): readonly Taking[] {
    return request.once(this, at, () => [...this.#walk(this.#root, { request, start: at, at, weight: 0 })])
  }

  *#walk(
    place: Place,
    walk: { request: Request; start: number; at: number; weight: number },
  ): Generator<Taking> {
    const { request, start, at, weight } = walk
    const [value] = place.values
    if (place !== this.#root && value !== undefined) yield { value, used: at - start, weight, free: 0 }
    for (const { token, used } of request.tokensAt(at)) {
      const next = place.next.get(token)
      if (next) yield* this.#walk(next, { ...walk, at: at + used, weight: weight + used * WEIGHTS.same })
    }
    const word = request.words[at]?.key
    if (word === undefined || place.next.has(word) || request.lexicon.knows(word)) return
    for (let cut = 2; cut <= word.length - 2; cut++) {
      const next = place.next.get(word.slice(0, cut))?.next.get(word.slice(cut))
      if (next) yield* this.#walk(next, { ...walk, at: at + 1, weight: weight + WEIGHTS.same })
    }
    for (const [key, next] of place.next)
      if (request.likeness(at, key))
        yield* this.#walk(next, { ...walk, at: at + 1, weight: weight + WEIGHTS.similar })
  }

  phrases(): Iterable<readonly string[]> {
    return this.#phrases
  }
}
