import type { SlotList } from './lists.ts'
import type { Node } from './template.ts'
import { keysOf } from './text.ts'
import { type Grammar, isFirst } from './understand.ts'

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

/** The templates without what they capture. Sentences with free text, and those that only continue a conversation, are left out. */
export function graphOf(grammar: Grammar | undefined): SentenceGraph {
  const whole: OpenRule = { arcs: [[], [], [], []], ends: [1, 3] }
  const rules: OpenRule[] = [whole]
  const version = `sentences ${++lastVersion}`
  if (!grammar) return { version, rules }
  const { matcher, language } = grammar
  const known = new Map<unknown, number>()

  const ruleFor = (key: unknown, build: (rule: OpenRule) => void): number => {
    const before = known.get(key)
    if (before !== undefined) return before
    const rule: OpenRule = { arcs: [[]], ends: [] }
    const index = rules.push(rule) - 1
    known.set(key, index)
    build(rule)
    prune(rule)
    return index
  }
  const ofNode = (node: Node) =>
    ruleFor(node, rule => {
      rule.ends = [...add(node, rule, [0])]
    })
  const ofPhrases = (key: unknown, phrases: Iterable<readonly string[]>) =>
    ruleFor(key, rule => {
      rule.ends = [...addPhrases(rule, phrases)]
    })
  const ofList = (list: SlotList | undefined): number | undefined => {
    const before = known.get(list)
    if (before !== undefined) return before
    const spoken = list?.spoken?.()
    if (!spoken || 'phrases' in spoken) return spoken && ofPhrases(list, spoken.phrases)
    const { from, to, units } = spoken
    const numbers = Array.from({ length: Math.min(to, MAX_NUMBER) + 1 }, (_, value) => value)
    const said = numbers
      .filter(value => value >= from)
      .flatMap(value => {
        const words = language.numbers.wordsFor(value)
        return words ? units.map(unit => [...words, ...unit]) : []
      })
    return ofPhrases(list, said)
  }
  /** Adds a node after some states; returns the states after it. */
  const add = (node: Node, rule: OpenRule, from: readonly number[], to?: number): readonly number[] => {
    if (node.kind === 'fixed') return from
    if (node.kind === 'sequence')
      return node.items.reduce((before, item, at) => {
        return add(item, rule, before, at === node.items.length - 1 ? to : undefined)
      }, from)
    const target = to ?? rule.arcs.push([]) - 1
    if (node.kind === 'choice') return [...new Set(node.items.flatMap(item => add(item, rule, from, target)))]
    const inner = node.kind === 'rule' ? ofNode(matcher.rule(node.name)) : ofList(matcher.lists.get(node))
    const label = node.kind === 'word' ? node.key : inner
    if (label === undefined) return []
    for (const state of from) rule.arcs[state]?.push([label, target])
    return [target]
  }

  const first = matcher.sentences.filter(({ block }) => isFirst(block))
  const command = ofNode({ kind: 'choice', items: first.map(({ node }) => node) })
  const { before = [], after = [], joint = [] } = language.spoken
  whole.arcs[0]?.push([command, 1], [ofPhrases(before, before.map(keysOf)), 2])
  whole.arcs[1]?.push([ofPhrases(after, after.map(keysOf)), 3], [ofPhrases(joint, joint.map(keysOf)), 2])
  whole.arcs[2]?.push([command, 1])
  return { version, rules }
}

function prune(rule: OpenRule): void {
  const live = new Set(rule.ends)
  for (let size = -1; size !== live.size; ) {
    size = live.size
    for (const [state, arcs] of rule.arcs.entries()) if (arcs.some(([, to]) => live.has(to))) live.add(state)
  }
  rule.arcs = rule.arcs.map(arcs => arcs.filter(([, to]) => live.has(to)))
}

/** Adds phrases; those that begin alike share their way. Returns the states after them. */
function addPhrases(rule: OpenRule, phrases: Iterable<readonly string[]>): Set<number> {
  const known = new Map<string, number>()
  const ends = new Set<number>()
  for (const words of phrases) {
    let state = 0
    for (const word of words) {
      const key = `${state} ${word}`
      const to = known.get(key) ?? rule.arcs.push([]) - 1
      if (!known.has(key)) rule.arcs[state]?.push([word, to])
      known.set(key, to)
      state = to
    }
    if (state > 0) ends.add(state)
  }
  return ends
}
