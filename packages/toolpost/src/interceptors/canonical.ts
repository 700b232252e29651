import { createHash } from 'node:crypto'
import { jsonSchemaOf } from '../schema/json-schema.ts'
import type { Tool } from '../tools/tool.ts'
import { isRecord } from '../util/guards.ts'

/** The same for equal arguments, whatever the order of their keys. Throws on anything but JSON, such as a cycle. */
export function fingerprint(value: unknown): string {
  const text = JSON.stringify(value, (_key, part: unknown) => {
    if (looksLikeOthers(part)) throw new TypeError('not JSON')
    if (typeof part === 'bigint') return { bigint: String(part) }
    // Entries instead of an object, in which numeric keys always come first.
    return isRecord(part) ? { '': Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)) } : part
  })
  return createHash('sha256')
    .update(text ?? 'undefined')
    .digest('hex')
}

/** What a server says about a tool, as far as a person or a model relies on it, with text that was removed from it. */
export function toolDefinition(tool: Tool): Readonly<Record<string, unknown>> {
  const { outputSchema, passedOn, raw = { title: tool.title, description: tool.description } } = tool
  const { title, description, inputSchema = schemaOf(tool) }: Record<string, unknown> = raw
  const definition = { title, description, inputSchema, outputSchema, annotations: passedOn?.annotations }
  return JSON.parse(JSON.stringify(definition))
}

/** The schema of a LangChain tool may be written in another language. */
function schemaOf(tool: Tool): unknown {
  try {
    return jsonSchemaOf(tool)
  } catch {
    return undefined
  }
}

/** Whether different values look the same as JSON: two maps, two infinities. */
function looksLikeOthers(part: unknown): boolean {
  if (typeof part === 'number') return !Number.isFinite(part)
  return [Map, Set, ArrayBuffer].some(type => part instanceof type) || ArrayBuffer.isView(part)
}
