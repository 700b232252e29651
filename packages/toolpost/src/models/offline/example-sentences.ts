import type { JsonSchema } from '../../schema/json-schema.ts'
import type { Tool } from '../../tools/tool.ts'
import type { ToolManager } from '../../tools/tool-manager.ts'
import { readSentences } from './sentence-book.ts'
import { propertyOf } from './slots.ts'
import type { TemplateNode } from './template.ts'

const MAX_EXAMPLES = 3

/** Sentences a person could say to call a tool; values only they know appear as `{name}`. */
export function exampleSentences(tool: Tool, manager?: ToolManager): string[] {
  const { sentences } = readSentences(tool, manager)
  const said = sentences.map(({ nodes, schema }) => sentence(nodes, schema))
  return [...new Set(said)].slice(0, MAX_EXAMPLES)
}

function sentence(nodes: readonly TemplateNode[], schema: JsonSchema): string {
  const text = words(nodes, schema).join(' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function words(nodes: readonly TemplateNode[], schema: JsonSchema): string[] {
  return nodes.flatMap(node => {
    if (node.kind === 'word') return [node.key]
    if (node.kind === 'fixed') return []
    if (node.kind === 'slot') return [slotText(node, schema)]
    // A rule is named after what it says: `<turn>`.
    if (node.kind === 'rule') return [node.name]
    const [first = []] = node.branches
    return node.isOptional && !isArticle(first) ? [] : words(first, schema)
  })
}

function isArticle([only, ...others]: readonly TemplateNode[]): boolean {
  return only?.kind === 'word' && only.key === 'the' && others.length === 0
}

function slotText({ name, choices }: TemplateNode & { kind: 'slot' }, schema: JsonSchema): string {
  if (choices?.[0] !== undefined) return choices[0].say
  const { enum: values, examples, default: usual } = propertyOf(schema, name) ?? {}
  const known = [usual, ...listOf(examples), ...listOf(values)].find(
    value => typeof value === 'string' || typeof value === 'number',
  )
  return known === undefined ? `{${name}}` : String(known)
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}
