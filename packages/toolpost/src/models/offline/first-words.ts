import type { Lexicon } from './lexicon.ts'
import { keysOf } from './slots.ts'
import type { SlotNode, TemplateNode } from './template.ts'

/** The words a sentence can begin with; `undefined` if it can begin with any. */
export function firstWords(
  nodes: readonly TemplateNode[],
  lexicon: Lexicon,
): ReadonlySet<string> | undefined {
  const words = new Set<string>()
  return collect(nodes, { words, lexicon, depth: 0 }) === 'words' ? words : undefined
}

const MAX_DEPTH = 40

interface Collecting {
  words: Set<string>
  lexicon: Lexicon
  depth: number
}

/** `words`: starts with one of those collected; `nothing`: may be empty; `any`: may start with anything. */
function collect(nodes: readonly TemplateNode[], collecting: Collecting): 'words' | 'nothing' | 'any' {
  for (const node of nodes) {
    const found = collectNode(node, { ...collecting, depth: collecting.depth + 1 })
    if (found !== 'nothing') return found
  }
  return 'nothing'
}

function collectChoices({ choices = [] }: SlotNode, { words }: Collecting): 'words' | 'any' {
  const firsts = choices.flatMap(({ say }) => keysOf(say).slice(0, 1))
  for (const first of firsts) words.add(first)
  return firsts.length > 0 ? 'words' : 'any'
}

function collectNode(node: TemplateNode, collecting: Collecting): 'words' | 'nothing' | 'any' {
  if (collecting.depth > MAX_DEPTH) return 'any'
  if (node.kind === 'slot') return collectChoices(node, collecting)
  if (node.kind === 'fixed') return 'nothing'
  if (node.kind === 'word') {
    collecting.words.add(node.key)
    return 'words'
  }
  const branches = node.kind === 'group' ? node.branches : [collecting.lexicon.rule(node.name) ?? []]
  const found = branches.map(branch => collect(branch, collecting))
  if (found.includes('any')) return 'any'
  return found.includes('nothing') || (node.kind === 'group' && node.isOptional) ? 'nothing' : 'words'
}
