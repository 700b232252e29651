import type { Lexicon } from './lexicon.ts'
import type { Request } from './request.ts'
import { keysOf } from './slots.ts'
import type { TemplateNode } from './template.ts'

/** A request must have at least one of these words. */
type AnyOf = ReadonlySet<string>

const MAX_DEPTH = 40

/** The words a request must have to match a sentence. Cheaper to check than the sentence itself. */
export function neededWords(nodes: readonly TemplateNode[], lexicon: Lexicon, depth = 0): AnyOf[] {
  return depth > MAX_DEPTH ? [] : nodes.flatMap(node => neededBy(node, lexicon, depth + 1))
}

function neededBy(node: TemplateNode, lexicon: Lexicon, depth: number): AnyOf[] {
  if (node.kind === 'word') return [new Set([node.key])]
  if (node.kind === 'fixed') return []
  if (node.kind === 'slot')
    return node.choices ? [new Set(node.choices.flatMap(({ say }) => keysOf(say).slice(0, 1)))] : []
  if (node.kind === 'rule') return neededWords(lexicon.rule(node.name) ?? [], lexicon, depth)
  const branches = node.isOptional ? [] : node.branches.map(branch => neededWords(branch, lexicon, depth))
  const [only, ...others] = branches
  if (only && others.length === 0) return only
  const firsts = branches.flatMap(([first]) => first ?? [])
  return firsts.length < branches.length || firsts.length === 0
    ? []
    : [new Set(firsts.flatMap(set => [...set]))]
}

/** Whether a request has all of them, up to misspellings. */
export function hasNeeded(request: Request, needed: readonly AnyOf[]): boolean {
  return needed.every(words => request.words.some((_, at) => request.isOneOf(at, words)))
}
