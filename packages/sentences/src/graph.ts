import type { Block } from './language.ts'
import { anyOf, type Node } from './template.ts'
import { keysOf } from './text.ts'
import { type Grammar, isFirst } from './understand.ts'

/**
 * All sentences that can be understood, as a word graph for a speech recogniser. Plain data, so that it can be sent to another process;
 * never expanded: a list, such as the devices, is one rule that many places refer to.
 */
export interface SentenceGraph {
  version: string // Changes whenever the sentences do
  rules: readonly GraphRule[] // The first rule is a whole sentence
}

/** State 0 is the start. */
export interface GraphRule {
  /** By state: what may come next, and the state after it. A label is a lower-case word or the index of a rule. */
  arcs: readonly (readonly GraphArc[])[]
  ends: readonly number[] // The states in which the rule may end
}

type GraphArc = readonly [label: string | number, to: number]
type OpenRule = { arcs: GraphArc[][]; ends: number[] }

let lastVersion = 0

/** The templates without what they capture. Sentences with free text, and those that only continue a conversation, are left out. */
export function graphOf(grammar: Grammar | undefined): SentenceGraph {
  const whole: OpenRule = { arcs: [[], [], [], []], ends: [1, 3] }
  const rules: OpenRule[] = [whole]
  const version = `sentences ${++lastVersion}`
  if (!grammar) return { version, rules }
  const { matcher, language } = grammar
  const known = new Map<unknown, number>()
  let anything: number | undefined // Free text has no rule, but for a command to be done later

  const ofNode = (node: Node, key: unknown = node): number => {
    const before = known.get(key)
    if (before !== undefined) return before
    const rule: OpenRule = { arcs: [[]], ends: [] }
    const index = rules.push(rule) - 1
    known.set(key, index)
    rule.ends = [...new Set(add(node, rule, [0]))]
    prune(rule)
    return index
  }
  const labelOf = (node: Node, isFirst: boolean) => {
    if (node.kind === 'word') return node.key
    if (node.kind === 'rule') return ofNode(matcher.rule(node.name))
    const { spoken, spokenFirst = spoken } = matcher.lists.get(node) ?? {}
    const said = isFirst ? spokenFirst : spoken
    return said ? (known.get(said) ?? ofNode(said(), said)) : anything
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
    for (const state of from) {
      const label = labelOf(node, state === 0)
      if (label === undefined) return []
      rule.arcs[state]?.push([label, target])
    }
    return [target]
  }

  const ofBlocks = (isMeant: (block: Block) => boolean) => {
    const items = matcher.sentences.filter(({ block }) => isMeant(block)).map(({ node }) => node)
    return ofNode({ kind: 'choice', items })
  }
  const { before = [], after = [], joint = [] } = language.spoken
  const said = (texts: readonly string[]) => ofNode(anyOf(texts.map(keysOf)))
  // Remarks ("it is too warm") are understood, but not listened for: too much sounds like them.
  const command = ofBlocks(block => isFirst(block) && !block.aside)
  anything = command
  const later = ofBlocks(({ dialogue }) => dialogue === 'later')
  whole.arcs[0]?.push([command, 1], [later, 3], [said(before), 2])
  whole.arcs[1]?.push([said(after), 3], [said(joint), 2])
  whole.arcs[2]?.push([command, 1], [said(before), 2])
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
