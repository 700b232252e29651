import type SearchableMap from 'minisearch/SearchableMap'
import type { ToolTerms } from './tool-text.ts'
import { relatedTerms, termOf } from './words.ts'

/** What a word counts that means much the same as one that was asked for, or is written much the same. */
const RELATED = 0.5
const NEAR = 0.4
/** How much less a word counts among many. */
const DILUTION = 0.4
const MAX_WORDS = 20
/** Of words that begin alike, or differ by a letter, so many are looked at. */
const MAX_NEAR = 50

type Postings<Entry> = Map<Entry, number>

/**
 * Entries by their terms. MiniSearch keeps the terms, and finds those that are much the same; the ranking is ours,
 * because a word counts by the best place where it stands, and not by how often.
 */
export class TermIndex<Entry extends object> {
  readonly #terms: SearchableMap<Postings<Entry>>
  readonly #entries = new Map<Entry, ToolTerms>()

  private constructor(terms: SearchableMap<Postings<Entry>>) {
    this.#terms = terms
  }

  static async create<Entry extends object>(): Promise<TermIndex<Entry>> {
    const { default: Terms } = await import('minisearch/SearchableMap')
    return new TermIndex<Entry>(new Terms())
  }

  has(entry: Entry): boolean {
    return this.#entries.has(entry)
  }

  entries(): Entry[] {
    return [...this.#entries.keys()]
  }

  add(entry: Entry, terms: ToolTerms): void {
    this.#entries.set(entry, terms)
    for (const [term, weight] of terms.weights) {
      const postings = this.#terms.get(term) ?? new Map<Entry, number>()
      this.#terms.set(term, postings.set(entry, weight))
    }
  }

  remove(entry: Entry): void {
    for (const term of this.#entries.get(entry)?.weights.keys() ?? []) {
      const postings = this.#terms.get(term)
      postings?.delete(entry)
      if (postings?.size === 0) this.#terms.delete(term)
    }
    this.#entries.delete(entry)
  }

  /** Those that any of the words fits, the best first. */
  ranked(words: readonly string[]): Entry[] {
    const scores = new Map<Entry, number>()
    for (const term of new Set(words.slice(0, MAX_WORDS).map(termOf)))
      for (const [entry, score] of this.#scores(term)) scores.set(entry, (scores.get(entry) ?? 0) + score)
    for (const [entry, score] of scores)
      scores.set(entry, score / (this.#entries.get(entry)?.size || 1) ** DILUTION)
    return [...scores].sort(([, a], [, b]) => b - a).map(([entry]) => entry)
  }

  /** Of one word: what fits best, itself or one that means the same. Rare words count more. */
  #scores(term: string): Map<Entry, number> {
    const best = new Map<Entry, number>()
    const note = (postings: Postings<Entry>, factor: number) => {
      const rarity = factor * Math.log(1 + this.#entries.size / postings.size)
      for (const [entry, weight] of postings) {
        const score = weight * rarity
        if (score > (best.get(entry) ?? 0)) best.set(entry, score)
      }
    }
    const own = this.#terms.get(term)
    if (own) note(own, 1)
    else for (const near of this.#near(term)) note(near, NEAR)
    for (const related of relatedTerms(term)) {
      const postings = this.#terms.get(related)
      if (postings) note(postings, RELATED)
    }
    return best
  }

  /** For a word that stands nowhere: those that begin with it, or are a slip of the pen away. */
  *#near(term: string): Generator<Postings<Entry>> {
    if (term.length < 3) return
    let left = MAX_NEAR
    for (const [, postings] of this.#terms.atPrefix(term)) {
      if (left-- === 0) return
      yield postings
    }
    if (term.length < 4) return
    for (const [postings] of this.#terms.fuzzyGet(term, term.length > 6 ? 2 : 1).values()) {
      if (left-- === 0) return
      yield postings
    }
  }
}
