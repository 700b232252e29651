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

/** The entries of `tools/list`, cached by tool: lists are requested often, and tools do not change. */
export class ToolList {
  readonly #entries = new WeakMap<Tool, McpToolEntry>()
  readonly #newest = new WeakMap<Tool, McpToolEntry>()

  /** Clients with the newest protocol accept any output schema. */
  async entries(tools: readonly Tool[], isNewest: boolean): Promise<McpToolEntry[]> {
    const known = isNewest ? this.#newest : this.#entries
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
}

async function describe(tool: Tool, isNewest: boolean): Promise<McpToolEntry> {
  const { name, title, description, readOnly, idempotent, destructive, openWorld, passedOn = {} } = tool
  const outputSchema = await usableOutput(
    plainSchema(() => tool.outputSchema),
    isNewest,
  )
  const annotations = {
    ...(isRecord(passedOn.annotations) && passedOn.annotations),
    ...(readOnly !== undefined && { readOnlyHint: readOnly }),
    ...(idempotent !== undefined && { idempotentHint: idempotent }),
    ...(destructive !== undefined && { destructiveHint: destructive }),
    ...(openWorld !== undefined && { openWorldHint: openWorld }),
  }
  const entry = {
    name,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    inputSchema: objectSchema(inputSchemaOf(tool)),
    ...(outputSchema && { outputSchema }),
    ...(Object.keys(annotations).length > 0 && { annotations }),
  }
  const { icons } = passedOn
  // Sentences are for this side only, and long.
  const { [SENTENCES_META]: _, ...meta } = isRecord(passedOn._meta) ? passedOn._meta : {}
  const _meta = Object.keys(meta).length > 0 ? { _meta: meta } : {}
  const whole = { ...entry, ...(icons ? { icons } : {}), ..._meta }
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
async function usableOutput(
  schema: JsonSchema | undefined,
  isNewest: boolean,
): Promise<McpToolEntry['outputSchema']> {
  const isObject = schema?.type === 'object'
  if (!schema || (!isObject && !isNewest) || schemaProblem(schema, MAX_OUTPUT_SUBSCHEMAS)) return undefined
  try {
    await compileSchema(schema)
    return isObject ? objectSchema(schema) : (schema as McpToolEntry['outputSchema'])
  } catch {
    return undefined
  }
}
