import type { WrittenRule } from './rule-writer.ts'
import type { GraphRule } from './sentence-graph.ts'

/**
 * Determinizes and minimizes a rule: one arc per label out of each state, equivalent states merged. Arcs lead to later
 * states, so a state is finished once its successors are.
 */
export function compact(rule: WrittenRule): GraphRule {
  const finished = new Finished(rule)
  return numbered(finished, rule.labels)
}

interface State {
  isEnd: boolean
  /** Alternating labels and finished target states. */
  arcs: readonly number[]
}

class Finished {
  readonly states: State[] = []
  readonly start: number
  readonly #rule: WrittenRule
  readonly #isEnd: Uint8Array
  /** The finished state for one state of the rule, or for a set of them. */
  readonly #ofOne: Int32Array
  readonly #ofSeveral = new Map<string, number>()
  readonly #byForm = new Map<string, number>()

  constructor(rule: WrittenRule) {
    const { length } = rule.arcs
    this.#rule = rule
    this.#isEnd = new Uint8Array(length)
    for (const end of rule.ends) this.#isEnd[end] = 1
    this.#ofOne = new Int32Array(length)
    for (let state = length - 1; state >= 0; state--) this.#ofOne[state] = this.#one(state)
    this.start = this.#ofOne[0] ?? 0
  }

  #one(state: number): number {
    const arcs = this.#rule.arcs[state] ?? []
    const isEnd = this.#isEnd[state] === 1
    return this.#unique({ isEnd, arcs: isForked(arcs) ? this.#merged([state]) : this.#mapped(arcs) })
  }

  /** The common case: at most one arc per label. */
  #mapped(arcs: readonly number[]): number[] {
    const mapped: number[] = []
    for (let at = 0; at < arcs.length; at += 2) {
      const to = this.#ofOne[arcs[at + 1] ?? 0] ?? 0
      if (!this.#leadsNowhere(to)) mapped.push(arcs[at] ?? 0, to)
    }
    return mapped
  }

  /** The merged state for these states of the rule. */
  #several(states: readonly number[]): number {
    const key = states.join()
    const known = this.#ofSeveral.get(key)
    if (known !== undefined) return known
    const isEnd = states.some(state => this.#isEnd[state] === 1)
    const made = this.#unique({ isEnd, arcs: this.#merged(states) })
    this.#ofSeveral.set(key, made)
    return made
  }

  #merged(states: readonly number[]): number[] {
    const arcs: number[] = []
    for (const [label, next] of this.#next(states)) {
      const [only = 0] = next
      const to = next.size === 1 ? this.#ofOne[only] : this.#several([...next].sort((a, b) => a - b))
      if (to !== undefined && !this.#leadsNowhere(to)) arcs.push(label, to)
    }
    return arcs
  }

  #next(states: readonly number[]): Map<number, Set<number>> {
    const byLabel = new Map<number, Set<number>>()
    for (const state of states) {
      const arcs = this.#rule.arcs[state] ?? []
      for (let at = 0; at < arcs.length; at += 2) {
        const [label = 0, to = 0] = [arcs[at], arcs[at + 1]]
        const targets = byLabel.get(label)
        if (targets) targets.add(to)
        else byLabel.set(label, new Set([to]))
      }
    }
    return byLabel
  }

  #leadsNowhere(at: number): boolean {
    const state = this.states[at]
    return state !== undefined && !state.isEnd && state.arcs.length === 0
  }

  #unique(state: State): number {
    const form = formOf(state)
    const known = this.#byForm.get(form)
    if (known !== undefined) return known
    const made = this.states.push(state) - 1
    this.#byForm.set(form, made)
    return made
  }
}

/** Whether several arcs have the same label. */
function isForked(arcs: readonly number[]): boolean {
  if (arcs.length < 4) return false
  const labels = new Set<number>()
  for (let at = 0; at < arcs.length; at += 2) labels.add(arcs[at] ?? 0)
  return labels.size < arcs.length / 2
}

/** Equal for equivalent states. */
function formOf({ isEnd, arcs }: State): string {
  const form = arcs.length > 2 ? pairs(arcs).sort().join() : arcs.join('>')
  return isEnd ? `.${form}` : form
}

function pairs(arcs: readonly number[]): string[] {
  const all: string[] = []
  for (let at = 0; at < arcs.length; at += 2) all.push(`${arcs[at]}>${arcs[at + 1]}`)
  return all
}

/** Numbers the states in the order they are reached, the start first. */
function numbered({ states, start }: Finished, labels: WrittenRule['labels']): GraphRule {
  const numbers = new Map([[start, 0]])
  const numberOf = (state: number) => {
    const number = numbers.get(state) ?? numbers.size
    numbers.set(state, number)
    return number
  }
  const arcs: [string | number, number][][] = []
  const ends: number[] = []
  for (const [state, number] of numbers) {
    const { isEnd, arcs: ways } = states[state] as State
    if (isEnd) ends.push(number)
    const written: [string | number, number][] = []
    for (let at = 0; at < ways.length; at += 2)
      written.push([labels[ways[at] ?? 0] ?? '', numberOf(ways[at + 1] ?? 0)])
    arcs.push(written)
  }
  return { arcs, ends }
}
