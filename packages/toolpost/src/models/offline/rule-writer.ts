export type States = readonly number[]
export type Label = string | number
/** A dead end: nothing here can be spoken. */
export const NOWHERE: States = []

/** A rule before minimization. Labels are numbers, which are cheap to compare. Every arc leads to a later state. */
export interface WrittenRule {
  labels: readonly Label[]
  /** By state: alternating labels and target states. */
  arcs: readonly (readonly number[])[]
  ends: States
}

/** Up to this many labels, a state and a label fit in one small integer. */
const FEW_LABELS = 2 ** 14

/** Writes one rule of a graph from its start: each step leads from some states to others. */
export class RuleWriter {
  readonly start: States = [0]
  readonly #labels: Label[] = []
  readonly #numbers = new Map<Label, number>()
  readonly #arcs: number[][] = [[]]
  /** The target of a label, from one state or several: paths with a common prefix share it. */
  readonly #fromOne = new Map<number, number>()
  readonly #fromSeveral = new Map<string, number>()
  #ends: States = []

  word(from: States, word: string): States {
    return this.#arc(from, word)
  }

  words(from: States, words: readonly string[]): States {
    let at = from
    for (const word of words) at = this.#arc(at, word)
    return at
  }

  /** An `undefined` rule leads nowhere. */
  rule(from: States, rule: number | undefined): States {
    return rule === undefined ? NOWHERE : this.#arc(from, rule)
  }

  end(states: States): void {
    this.#ends = [...new Set(states)]
  }

  written(): WrittenRule {
    return { labels: this.#labels, arcs: this.#arcs, ends: this.#ends }
  }

  #arc(from: States, label: Label): States {
    if (from.length === 0) return NOWHERE
    const number = this.#numberOf(label)
    const isSimple = from.length === 1 && number < FEW_LABELS
    return [isSimple ? this.#next(from[0] ?? 0, number) : this.#nextOfAll(from, number)]
  }

  #next(from: number, label: number): number {
    const key = from * FEW_LABELS + label
    const known = this.#fromOne.get(key)
    if (known !== undefined) return known
    const to = this.#arcs.push([]) - 1
    this.#arcs[from]?.push(label, to)
    this.#fromOne.set(key, to)
    return to
  }

  #nextOfAll(from: States, label: number): number {
    const key = `${from.join()} ${label}`
    const known = this.#fromSeveral.get(key)
    if (known !== undefined) return known
    const to = this.#arcs.push([]) - 1
    for (const state of from) this.#arcs[state]?.push(label, to)
    this.#fromSeveral.set(key, to)
    return to
  }

  #numberOf(label: Label): number {
    const known = this.#numbers.get(label)
    if (known !== undefined) return known
    const number = this.#labels.push(label) - 1
    this.#numbers.set(label, number)
    return number
  }
}

export function addStates(states: number[], more: States): void {
  for (const state of more) if (!states.includes(state)) states.push(state)
}
