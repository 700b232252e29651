import type { Sentence } from './match.ts'
import type { Request } from './request.ts'
import type { TemplateNode } from './template.ts'
import { compareWords } from './words.ts'

const MAX_SUGGESTIONS = 3
/** Words so common that they do not tell which sentence was meant. */
const COMMON = new Set(
  'a an the my me is are it what which how in of to for on off do i you and at'.split(' '),
)

/** Examples of what to say, nearest to the request first; one per tool if nothing is near. */
export function suggest(request: Request | undefined, byTool: readonly (readonly Sentence[])[]): string[] {
  const near = byTool
    .flat()
    .map(sentence => ({ sentence, nearness: request ? nearness(sentence, request) : 0 }))
    .filter(candidate => candidate.nearness > 0)
    .sort((a, b) => b.nearness - a.nearness)
    .map(({ sentence }) => exampleOf(sentence.nodes))
  const any = byTool.flatMap(sentences => sentences.slice(0, 1)).map(({ nodes }) => exampleOf(nodes))
  return [...new Set(near.length > 0 ? near : any)].slice(0, MAX_SUGGESTIONS)
}

/** How many of the sentence's own words the request has. */
function nearness({ nodes }: Sentence, { words }: Request): number {
  const telling = ownWords(nodes).filter(key => !COMMON.has(key))
  const shared = new Set(telling.filter(key => words.some(word => compareWords(word.key, key) !== undefined)))
  return shared.size / Math.max(1, Math.sqrt(new Set(telling).size))
}

function ownWords(nodes: readonly TemplateNode[]): string[] {
  return nodes.flatMap(node => {
    if (node.kind === 'word') return [node.key]
    return node.kind === 'group' ? node.branches.flatMap(ownWords) : []
  })
}

/** A sentence in its shortest form, with `…` for the blanks. */
export function exampleOf(nodes: readonly TemplateNode[]): string {
  return nodes
    .flatMap(node => {
      if (node.kind === 'word') return [node.key]
      if (node.kind === 'slot') return [node.choices?.[0]?.say ?? '…']
      if (node.kind === 'group' && !node.isOptional) return [exampleOf(node.branches[0] ?? [])]
      return []
    })
    .join(' ')
}
