import type { GraphRule } from './sentence-graph.ts'

export type States = readonly number[]
/** Nothing can be said here that somebody who listens could expect. */
export const NOWHERE: States = []

/** One rule of a graph, written from its start on: each step leads from some states to others. */
export class RuleWriter {
  readonly start: States = [0]
  readonly #arcs: [string | number, number][][] = [[]]
  /** Where the same states go on: ways that begin alike are one. */
  readonly #shared = new Map<string, number>()
  #ends: States = []

  word(from: States, word: string): States {
    return this.#arc(from, word)
  }

  words(from: States, words: readonly string[]): States {
    return words.reduce<States>((at, word) => this.word(at, word), from)
  }

  /** A rule that says nothing leads nowhere. */
  rule(from: States, rule: number | undefined): States {
    return rule === undefined ? NOWHERE : this.#arc(from, rule)
  }

  end(states: States): void {
    this.#ends = [...new Set(states)]
  }

  written(): GraphRule {
    return { arcs: this.#arcs, ends: this.#ends }
  }

  #arc(from: States, label: string | number): States {
    if (from.length === 0) return NOWHERE
    const key = `${from.join()} ${typeof label === 'number' ? '#' : ''}${label}`
    const known = this.#shared.get(key)
    if (known !== undefined) return [known]
    const to = this.#arcs.push([]) - 1
    for (const state of from) this.#arcs[state]?.push([label, to])
    this.#shared.set(key, to)
    return [to]
  }
}
