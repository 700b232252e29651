import type { Home } from './home/home.ts'
import type { Sentence } from './match.ts'
import type { Request } from './request.ts'
import type { TemplateNode } from './template.ts'
import { nameTokens } from './tokens.ts'
import { compareWords, wordSet } from './words.ts'
import { ZWAVE } from './zwave.ts'

const MAX_SUGGESTIONS = 3
/** Words so common that they do not tell which sentence was meant. */
const COMMON = wordSet(
  `a an the my me is are it what which how in of to for on off do i you and at we us be can there that this all any have has
  say tell know turn switch set put make get got show up down back with even more less about who when where why did does was here now`,
)

/** Examples of what to say, nearest to the request first: about the device it names, else the sentences that are like it. */
export function suggest(
  request: Request | undefined,
  byTool: readonly (readonly Sentence[])[],
  home: Home | undefined,
): string[] {
  const about = request && home ? aboutDevice(request, home) : []
  return about.length > 0 ? about : nearTo(request, byTool.flat())
}

function aboutDevice(request: Request, home: Home): string[] {
  const said = nameTokens(request.text).join(' ')
  const named = home.devices.filter(({ tokens }) => ` ${said} `.includes(` ${tokens.join(' ')} `))
  const [device] = named.sort((a, b) => b.tokens.length - a.tokens.length)
  return (ZWAVE.examples[device?.kind ?? ''] ?? []).map(example => example.replace('…', device?.call ?? ''))
}

function nearTo(request: Request | undefined, sentences: readonly Sentence[]): string[] {
  const near = sentences
    .map(sentence => ({ sentence, nearness: request ? nearness(sentence, request) : 0 }))
    .filter(candidate => candidate.nearness > 0)
    .sort((a, b) => b.nearness - a.nearness)
    .map(({ sentence }) => exampleOf(sentence.nodes))
  return [...new Set(near)].slice(0, MAX_SUGGESTIONS)
}

/** How many of the sentence's own words the request has. */
function nearness(sentence: Sentence, { words }: Request): number {
  const own = tellingWords(sentence)
  const shared = own.filter(key => words.some(word => compareWords(word.key, key) !== undefined))
  return shared.length / Math.max(1, Math.sqrt(own.length))
}

const telling = new WeakMap<Sentence, readonly string[]>()

/** The words that tell a sentence from others. */
export function tellingWords(sentence: Sentence): readonly string[] {
  const before = telling.get(sentence)
  if (before) return before
  const words = [...new Set(ownWords(sentence.nodes))].filter(key => !COMMON.has(key))
  telling.set(sentence, words)
  return words
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
