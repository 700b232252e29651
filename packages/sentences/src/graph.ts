import type { SlotList } from './lists.ts'
import { keysOf } from './text.ts'
import type { Grammar } from './understand.ts'

/**
 * All sentences that can be understood, as a word graph for a speech recogniser. Plain data, so that it can be sent to another process;
 * never expanded: a list, such as the devices, is one rule that many places refer to.
 */
export interface SentenceGraph {
  /** Changes whenever the sentences do. */
  version: string
  /** The first rule is a whole sentence. */
  rules: readonly GraphRule[]
}

/** State 0 is the start. */
export interface GraphRule {
  /** By state: what may come next, and the state after it. A label is a lower-case word or the index of a rule. */
  arcs: readonly (readonly GraphArc[])[]
  /** The states in which the rule may end. */
  ends: readonly number[]
}

type GraphArc = readonly [label: string | number, to: number]
interface OpenRule {
  arcs: GraphArc[][]
  ends: number[]
}

const MAX_NUMBER = 100
let lastVersion = 0

/** The automaton without what it captures. Sentences with free text, and those that only continue a conversation, are left out. */
export function graphOf(grammar: Grammar | undefined): SentenceGraph {
  const whole: OpenRule = { arcs: [[], [], [], []], ends: [1] }
  const rules: OpenRule[] = [whole]
  const version = `sentences ${++lastVersion}`
  if (!grammar) return { version, rules }
  const { states, start, meanings, rules: named } = grammar.automaton.network
  const finals = new Set<number>()
  for (const [state, { tool, dialogue, last, lastTool, guess }] of meanings)
    if (tool !== undefined && !dialogue && !last && !lastTool && !guess) finals.add(state)
  const known = new Map<unknown, number>()
  const ruleFor = (key: unknown, build: (rule: OpenRule) => void): number => {
    const before = known.get(key)
    if (before !== undefined) return before
    const rule: OpenRule = { arcs: [[]], ends: [] }
    const index = rules.push(rule) - 1
    known.set(key, index)
    build(rule)
    return index
  }
  const ofList = (list: SlotList): number | undefined => {
    const spoken = list.spoken()
    if (!spoken) return undefined
    return ruleFor(list, rule => {
      for (const words of 'from' in spoken ? numbersIn(spoken, grammar) : spoken.phrases)
        addPhrase(rule, words)
    })
  }
  const ofRule = (name: string): number | undefined => {
    const part = named.get(name)
    return part && ruleFor(part, rule => addNetwork(rule, part.start, new Set([part.end])))
  }
  const addNetwork = (rule: OpenRule, from: number, ends: ReadonlySet<number>): void => {
    const ids = new Map([[from, 0]])
    const open = [from]
    const idOf = (state: number) => {
      const id = ids.get(state) ?? rule.arcs.push([]) - 1
      if (!ids.has(state)) open.push(state)
      ids.set(state, id)
      return id
    }
    for (let state = open.shift(); state !== undefined; state = open.shift()) {
      const id = idOf(state)
      const closure = new Set([state])
      for (const each of closure) {
        const { words, arcs } = states[each] ?? { words: new Map<string, number[]>(), arcs: [] }
        if (ends.has(each)) rule.ends.push(id)
        for (const [word, targets] of words) for (const to of targets) rule.arcs[id]?.push([word, idOf(to)])
        for (const arc of arcs) {
          const label =
            arc.kind === 'list' ? ofList(arc.list) : arc.kind === 'rule' ? ofRule(arc.name) : undefined
          if (arc.kind === 'none' || arc.kind === 'fixed') closure.add(arc.to)
          else if (label !== undefined) rule.arcs[id]?.push([label, idOf(arc.to)])
        }
      }
    }
  }
  const pruned = (rule: OpenRule): void => {
    const live = new Set(rule.ends)
    for (let size = -1; size !== live.size; ) {
      size = live.size
      for (const [state, arcs] of rule.arcs.entries())
        if (arcs.some(([, to]) => live.has(to))) live.add(state)
    }
    rule.arcs = rule.arcs.map(arcs => arcs.filter(([, to]) => live.has(to)))
  }
  const command = ruleFor('command', rule => addNetwork(rule, start, finals))
  const phrases = (key: string, texts: readonly string[]) =>
    ruleFor(key, rule => {
      for (const text of texts) addPhrase(rule, keysOf(text))
    })
  const { before = [], after = [], joint = [] } = grammar.language.spoken
  whole.arcs[0]?.push([command, 1], [phrases('before', before), 2])
  whole.arcs[1]?.push([phrases('after', after), 3], [phrases('joint', joint), 2])
  whole.arcs[2]?.push([command, 1])
  whole.ends.push(3)
  for (const rule of rules) pruned(rule)
  return { version, rules }
}

function* numbersIn(
  { from, to, units }: { from: number; to: number; units: readonly string[][] },
  { language }: Grammar,
): Generator<string[]> {
  for (let value = Math.max(0, from); value <= Math.min(to, MAX_NUMBER); value++) {
    const words = language.numbers.wordsFor(value)
    if (words) for (const unit of units) yield [...words, ...unit]
  }
}

/** Adds words in a row; those that begin alike share their way. */
function addPhrase(rule: OpenRule, words: readonly string[]): void {
  let state = 0
  for (const word of words) {
    const known = rule.arcs[state]?.find(([label]) => label === word)
    const to = known?.[1] ?? rule.arcs.push([]) - 1
    if (!known) rule.arcs[state]?.push([word, to])
    state = to
  }
  if (words.length > 0 && !rule.ends.includes(state)) rule.ends.push(state)
}
