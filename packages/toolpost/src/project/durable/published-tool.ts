import { fingerprint } from '../../interceptors/canonical.ts'
import { jsonSchemaOf } from '../../schema/json-schema.ts'
import { plainSchema } from '../../schema/limits.ts'
import type { Tool } from '../../tools/tool.ts'
import type { PublishedTool } from '../durable.ts'

const known = new WeakMap<Tool, { published: PublishedTool | undefined }>()

/** A tool in the form others can offer; `undefined` if its schema cannot be serialized. */
export function publishedTool(tool: Tool): PublishedTool | undefined {
  const before = known.get(tool)
  if (before) return before.published
  const published = describe(tool)
  known.set(tool, { published })
  return published
}

function describe(tool: Tool): PublishedTool | undefined {
  const schema = plainSchema(() => jsonSchemaOf(tool))
  if (!schema) return undefined
  const definition = {
    name: tool.name,
    title: tool.title,
    description: tool.description ?? '',
    schema,
    outputSchema: plainSchema(() => tool.outputSchema),
    timeoutMs: tool.timeoutMs,
    maxTimeoutMs: tool.maxTimeoutMs,
    readOnly: tool.readOnly,
    idempotent: tool.idempotent,
    destructive: tool.destructive,
    openWorld: tool.openWorld,
    sentences: tool.sentences,
  }
  return { ...definition, fingerprint: fingerprint(definition) }
}
