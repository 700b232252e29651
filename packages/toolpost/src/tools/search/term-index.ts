import { isNear, likeness, type Spelling, spellingOf } from './spelling.ts'
import type { ToolTerms } from './tool-text.ts'
import { isLight, relatedTerms, termOf } from './words.ts'

/** Weight of a word that means about the same as a query word, or is spelled similarly. */
const RELATED = 0.5
const NEAR = 0.4
/** Weight of words that occur in many queries. */
const LIGHT = 0.5
/** How much less a word counts in a longer entry. */
const DILUTION = 0.3
const MAX_WORDS = 20
/** How many words with the same beginning, or a letter or two off, are considered. */
const MAX_NEAR = 50

/** If nothing matches, words are compared by spelling, within these limits. */
const MAX_COMPARED_WORDS = 3
const MIN_LIKENESS = 0.4
const MAX_ALIKE = 10

/** Where a term occurs: slots of entries, and its weight in each. */
interface Postings extends Spelling {
  slots: number[]
  weights: number[]
  /** How many of those entries still exist. */
  live: number
}

interface Fitting {
  postings: Postings
  factor: number
}

export interface RankingOptions<Entry> {
  limit: number
  /** Called only for entries that would make the list. */
  isAllowed?: ((entry: Entry) => boolean) | undefined
}

/**
 * Entries by their terms. A word counts by the best place it occurs in, not by how often. Everything is in arrays by slot:
 * most of ten thousand entries match some word of most queries.
 */
export class TermIndex<Entry extends object> {
  readonly #postings = new Map<string, Postings>()
  readonly #slots = new Map<Entry, number>()
  #entries: (Entry | undefined)[] = []
  #postingsOf: Postings[][] = []
  #dilutions: number[] = []
  #removed = 0
  #best = new Float64Array(0)
  #scores = new Float64Array(0)
  /** How many of the words match. */
  #fitting = new Float64Array(0)

  has(entry: Entry): boolean {
    return this.#slots.has(entry)
  }

  entries(): Iterable<Entry> {
    return [...this.#slots.keys()]
  }

  add(entry: Entry, { weights, size }: ToolTerms): void {
    const slot = this.#entries.length
    this.#slots.set(entry, slot)
    this.#entries.push(entry)
    this.#dilutions.push(1 / (size || 1) ** DILUTION)
    const own: Postings[] = []
    this.#postingsOf.push(own)
    for (const [term, weight] of weights) {
      const postings = this.#of(term)
      own.push(postings)
      postings.slots.push(slot)
      postings.weights.push(weight)
      postings.live++
    }
  }

  #of(term: string): Postings {
    let postings = this.#postings.get(term)
    if (!postings) {
      postings = { ...spellingOf(term), slots: [], weights: [], live: 0 }
      this.#postings.set(term, postings)
    }
    return postings
  }

  /** Leaves an empty slot; compacts once there are many. */
  remove(entry: Entry): void {
    const slot = this.#slots.get(entry)
    if (slot === undefined) return
    this.#slots.delete(entry)
    this.#entries[slot] = undefined
    for (const postings of this.#postingsOf[slot] ?? [])
      if (--postings.live === 0) this.#postings.delete(postings.term)
    this.#postingsOf[slot] = []
    if (++this.#removed > this.#slots.size) this.#compact()
  }

  /** Entries that match any of the words, best first. */
  ranked(words: readonly string[], options: RankingOptions<Entry>): Entry[] {
    this.#clear()
    for (const term of new Set(words.slice(0, MAX_WORDS).map(termOf))) this.#addScores(term)
    return this.#first(options)
  }

  /** If nothing matches: entries with the most similarly spelled words. */
  nearest(words: readonly string[], options: RankingOptions<Entry>): Entry[] {
    this.#clear()
    for (const term of words.slice(0, MAX_COMPARED_WORDS).map(termOf)) {
      const alike = this.#alike(term)
      for (const { postings, factor } of alike) this.#noteBest(postings, factor)
      for (const { postings } of alike) this.#addBest(postings, 1)
    }
    return this.#first(options)
  }

  /** The most similarly spelled terms, whatever they mean. */
  #alike(term: string): Fitting[] {
    const wanted = spellingOf(term)
    const alike: Fitting[] = []
    for (const postings of this.#postings.values()) {
      const factor = likeness(wanted, postings)
      if (factor >= MIN_LIKENESS) alike.push({ postings, factor })
    }
    return alike.sort((a, b) => b.factor - a.factor).slice(0, MAX_ALIKE)
  }

  #clear(): void {
    const size = this.#entries.length
    if (this.#scores.length < size) {
      this.#best = new Float64Array(2 * size)
      this.#scores = new Float64Array(2 * size)
      this.#fitting = new Float64Array(2 * size)
    }
    this.#scores.fill(0, 0, size)
    this.#fitting.fill(0, 0, size)
  }

  /** Scores one word by its best match, itself or a synonym. Rare words count more. */
  #addScores(term: string): void {
    const own = this.#postings.get(term)
    const fitting = own ? [{ postings: own, factor: 1 }] : this.#near(term)
    for (const related of relatedTerms(term)) {
      const postings = this.#postings.get(related)
      if (postings) fitting.push({ postings, factor: RELATED })
    }
    for (const { postings, factor } of fitting) this.#noteBest(postings, factor)
    for (const { postings } of fitting) this.#addBest(postings, isLight(term) ? LIGHT : 1)
  }

  #noteBest({ slots, weights, live }: Postings, factor: number): void {
    const best = this.#best
    const rarity = factor * Math.log(1 + this.#slots.size / live)
    for (let at = 0; at < slots.length; at++) {
      const slot = slots[at] as number
      const score = (weights[at] as number) * rarity
      if (score > (best[slot] as number)) best[slot] = score
    }
  }

  /** Adds each best score once and resets it. */
  #addBest({ slots }: Postings, share: number): void {
    const best = this.#best
    const scores = this.#scores
    const fitting = this.#fitting
    for (let at = 0; at < slots.length; at++) {
      const slot = slots[at] as number
      if (best[slot] === 0) continue
      scores[slot] = (scores[slot] as number) + share * (best[slot] as number)
      fitting[slot] = (fitting[slot] as number) + share
      best[slot] = 0
    }
  }

  #first({ limit, isAllowed = () => true }: RankingOptions<Entry>): Entry[] {
    const found: { entry: Entry; score: number }[] = []
    for (const [entry, slot] of this.#slots) {
      // Matching more of the words gives a small bonus on top of their own scores.
      const fitting = Math.sqrt(Math.sqrt(this.#fitting[slot] as number))
      const score = fitting * (this.#scores[slot] as number) * (this.#dilutions[slot] as number)
      const last = found.length < limit ? 0 : (found.at(-1)?.score ?? Number.POSITIVE_INFINITY)
      if (score <= last || !isAllowed(entry)) continue
      const place = found.findIndex(other => other.score < score)
      found.splice(place < 0 ? found.length : place, 0, { entry, score })
      if (found.length > limit) found.pop()
    }
    return found.map(({ entry }) => entry)
  }

  /** For a word that occurs nowhere: terms that start with it, or are a typo away. */
  #near(term: string): Fitting[] {
    if (term.length < 3) return []
    const near: Fitting[] = []
    const wanted = spellingOf(term)
    for (const postings of this.#postings.values()) {
      if (near.length >= MAX_NEAR) break
      if (isNear(wanted, postings)) near.push({ postings, factor: NEAR })
    }
    return near
  }

  #compact(): void {
    const kept = [...this.#slots].map(([entry, slot]) => ({ entry, slot }))
    const moved = new Map(kept.map(({ slot }, at) => [slot, at]))
    for (const postings of this.#postings.values()) {
      const { slots, weights } = postings
      const places = slots.flatMap((slot, at) => (moved.has(slot) ? [at] : []))
      postings.slots = places.map(at => moved.get(slots[at] as number) as number)
      postings.weights = places.map(at => weights[at] as number)
    }
    this.#entries = kept.map(({ entry }) => entry)
    this.#postingsOf = kept.map(({ slot }) => this.#postingsOf[slot] ?? [])
    this.#dilutions = kept.map(({ slot }) => this.#dilutions[slot] ?? 1)
    for (const [at, { entry }] of kept.entries()) this.#slots.set(entry, at)
    this.#removed = 0
  }
}
