import type { SentenceGraph } from 'toolpost/models'

/** A place in the graph: a state of a rule, and where the sentence continues when the rule ends. */
interface Place {
  readonly id: number
  readonly rule: number
  readonly state: number
  readonly back: Place | undefined
  readonly depth: number
}

/** The deepest nesting of rules: no sentence needs more, and left recursion would never end. */
const DEEPEST = 24

/** All places that the words so far may have led to, as one state. */
export interface WordState {
  readonly id: number
  /** Whether a sentence may end here. */
  readonly mayEnd: boolean
  /** The words that may come next. */
  words(): Iterable<string>
  after(word: string): WordState | undefined
}

/** Walks a sentence graph word by word, caching its states; the graph is never expanded. */
export class SentenceWalk {
  readonly #rules: SentenceGraph['rules']
  readonly #ends: ReadonlySet<number>[]
  readonly #places = new Map<string, Place>()
  readonly #states = new Map<string, WordState>()

  constructor({ rules }: SentenceGraph) {
    this.#rules = rules
    this.#ends = rules.map(({ ends }) => new Set(ends))
  }

  start(): WordState {
    return this.#stateOf(this.#rules.length === 0 ? [] : [this.#place(0, 0, undefined)])
  }

  #place(rule: number, state: number, back: Place | undefined): Place {
    const key = `${rule} ${state} ${back?.id ?? ''}`
    const known = this.#places.get(key)
    if (known) return known
    const place = { id: this.#places.size, rule, state, back, depth: (back?.depth ?? 0) + 1 }
    this.#places.set(key, place)
    return place
  }

  #stateOf(places: readonly Place[]): WordState {
    const ids = places.map(({ id }) => id).sort((a, b) => a - b)
    const key = ids.join()
    const known = this.#states.get(key)
    if (known) return known
    const { mayEnd, next } = this.#expand(places)
    const after = (word: string) => {
      const found = next.get(word)
      return found && this.#stateOf([...found])
    }
    const state = { id: this.#states.size, mayEnd, words: () => next.keys(), after }
    this.#states.set(key, state)
    return state
  }

  /** Enters the rules that begin at these places, and leaves those that end there. */
  #expand(places: readonly Place[]): { mayEnd: boolean; next: Map<string, Set<Place>> } {
    const next = new Map<string, Set<Place>>()
    const seen = new Set(places)
    let mayEnd = false
    for (const place of seen) {
      if (this.#ends[place.rule]?.has(place.state)) {
        if (place.back) seen.add(place.back)
        else mayEnd = true
      }
      for (const [label, to] of this.#rules[place.rule]?.arcs[place.state] ?? []) {
        const target = this.#place(place.rule, to, place.back)
        if (typeof label !== 'number') next.set(label, (next.get(label) ?? new Set()).add(target))
        // A rule in tail position returns to where its caller returns to.
        else if (this.#isLast(target)) seen.add(this.#place(label, 0, target.back))
        else if (target.depth < DEEPEST) seen.add(this.#place(label, 0, target))
      }
    }
    return { mayEnd, next }
  }

  #isLast({ rule, state }: Place): boolean {
    return this.#ends[rule]?.has(state) === true && (this.#rules[rule]?.arcs[state] ?? []).length === 0
  }
}
