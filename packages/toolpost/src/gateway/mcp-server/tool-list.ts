import { setImmediate } from 'node:timers/promises'
import { isSpecType, type Tool as McpToolEntry } from '@modelcontextprotocol/server'
import { compileSchema } from '../../schema/compile.ts'
import { type JsonSchema, propertiesOf, requiredOf } from '../../schema/json-schema.ts'
import { plainSchema, schemaProblem } from '../../schema/limits.ts'
import { SENTENCES_META, type Tool } from '../../tools/tool.ts'
import { isRecord } from '../../util/guards.ts'
import { inputSchemaOf } from '../tool-info.ts'

/** Larger output schemas are not announced: each is compiled to check that clients can use it. */
const MAX_OUTPUT_SUBSCHEMAS = 150

/** Lists are requested often, and tools do not change. */
const older = new WeakMap<Tool, McpToolEntry>()
const newest = new WeakMap<Tool, McpToolEntry>()

/** The entries of `tools/list`. Clients with the newest protocol accept any output schema. */
export async function toolEntries(tools: readonly Tool[], isNewest: boolean): Promise<McpToolEntry[]> {
  const known = isNewest ? newest : older
  const entries: McpToolEntry[] = []
  for (const tool of [...tools]) {
    const entry = known.get(tool) ?? (await describe(tool, isNewest))
    // Describing 10,000 tools takes a second.
    if (!known.has(tool) && entries.length % 50 === 0) await setImmediate()
    known.set(tool, entry)
    entries.push(entry)
  }
  return entries
}

/** What is undefined is left out of the list. */
async function describe(tool: Tool, isNewest: boolean): Promise<McpToolEntry> {
  const { name, title, description, passedOn = {}, readOnly, idempotent, destructive, openWorld } = tool
  const own = { readOnlyHint: readOnly, idempotentHint: idempotent, destructiveHint: destructive }
  const hints = Object.entries({ ...own, openWorldHint: openWorld }).filter(([, hint]) => hint !== undefined)
  const annotations = { ...Object(passedOn.annotations), ...Object.fromEntries(hints) }
  const outputSchema = await usableOutput(
    plainSchema(() => tool.outputSchema),
    isNewest,
  )
  const inputSchema = objectSchema(inputSchemaOf(tool))
  const entry = { name, title, description, inputSchema, outputSchema } as McpToolEntry
  // Sentences are for this side only, and long.
  const { [SENTENCES_META]: _, ...meta } = isRecord(passedOn._meta) ? passedOn._meta : {}
  const whole = {
    ...entry,
    icons: passedOn.icons,
    ...(Object.keys(annotations).length > 0 && { annotations }),
    ...(Object.keys(meta).length > 0 && { _meta: meta }),
  }
  // Clients reject a whole list over one malformed icon or annotation.
  return isSpecType.Tool(whole) ? whole : entry
}

/** Clients reject a whole list over one schema without `type: "object"`, or with `true` for a property. */
function objectSchema(schema: JsonSchema): McpToolEntry['inputSchema'] {
  const fixed: JsonSchema = { ...schema, type: 'object' }
  const objectForm = (value: unknown) => (isRecord(value) ? value : value === false ? { not: {} } : {})
  const properties = Object.entries(propertiesOf(schema)).map(([name, value]) => [name, objectForm(value)])
  if ('properties' in schema) fixed.properties = Object.fromEntries(properties)
  if ('required' in schema) fixed.required = requiredOf(schema)
  return fixed as McpToolEntry['inputSchema']
}

/** Leaves out a schema that does not compile, since it makes clients reject all tools, or that is slow to compile. */
async function usableOutput(schema: JsonSchema | undefined, isNewest: boolean) {
  const isObject = schema?.type === 'object'
  if (!schema || (!isObject && !isNewest) || schemaProblem(schema, MAX_OUTPUT_SUBSCHEMAS)) return undefined
  const isUsable = await compileSchema(schema).then(
    () => true,
    () => false,
  )
  return isUsable ? (isObject ? objectSchema(schema) : schema) : undefined
}
