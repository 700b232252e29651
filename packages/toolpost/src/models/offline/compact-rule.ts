import type { GraphRule } from './sentence-graph.ts'

type Label = string | number

/**
 * The same rule with one arc a label out of each state, and states that go on alike as one. Rules have no loops, so that
 * every state is finished when those after it are.
 */
export function compact(rule: GraphRule): GraphRule {
  const finished = new Finished(rule)
  const start = finished.state([0])
  return numbered(finished, start)
}

interface State {
  isEnd: boolean
  arcs: Map<Label, number>
}

class Finished {
  readonly states: State[] = []
  readonly #rule: GraphRule
  readonly #ends: ReadonlySet<number>
  readonly #byStates = new Map<string | number, number>()
  readonly #byForm = new Map<string, number>()

  constructor(rule: GraphRule) {
    this.#rule = rule
    this.#ends = new Set(rule.ends)
  }

  /** The one state for these states of the rule. */
  state(states: readonly number[]): number {
    const [only = 0, ...others] = states
    const key = others.length === 0 ? only : states.join(' ')
    const known = this.#byStates.get(key)
    if (known !== undefined) return known
    const arcs = new Map<Label, number>()
    for (const [label, next] of this.#next(states)) {
      const to = this.state(next.length > 1 ? [...new Set(next)].sort((a, b) => a - b) : next)
      if (!this.#leadsNowhere(to)) arcs.set(label, to)
    }
    const isEnd = states.some(state => this.#ends.has(state))
    const made = this.#unique({ isEnd, arcs })
    this.#byStates.set(key, made)
    return made
  }

  #leadsNowhere(at: number): boolean {
    const state = this.states[at]
    return state !== undefined && !state.isEnd && state.arcs.size === 0
  }

  #next(states: readonly number[]): Map<Label, number[]> {
    const byLabel = new Map<Label, number[]>()
    for (const state of states) {
      for (const [label, to] of this.#rule.arcs[state] ?? []) {
        const targets = byLabel.get(label)
        if (targets) targets.push(to)
        else byLabel.set(label, [to])
      }
    }
    return byLabel
  }

  #unique(state: State): number {
    const arcs = [...state.arcs].map(([label, to]) => `${typeof label === 'number' ? '#' : ''}${label}>${to}`)
    const form = `${state.isEnd} ${(arcs.length > 1 ? arcs.sort() : arcs).join(' ')}`
    const known = this.#byForm.get(form) ?? this.states.push(state) - 1
    this.#byForm.set(form, known)
    return known
  }
}

/** States in the order in which they are reached, the start first. */
function numbered({ states }: Finished, start: number): GraphRule {
  const numbers = new Map([[start, 0]])
  for (const state of numbers.keys())
    for (const to of states[state]?.arcs.values() ?? []) if (!numbers.has(to)) numbers.set(to, numbers.size)
  const order = [...numbers.keys()].map(state => states[state] as State)
  return {
    arcs: order.map(({ arcs }) => [...arcs].map(([label, to]) => [label, numbers.get(to) ?? 0] as const)),
    ends: order.flatMap(({ isEnd }, at) => (isEnd ? [at] : [])),
  }
}
