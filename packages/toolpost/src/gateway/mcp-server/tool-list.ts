import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Tool as McpToolEntry } from '@modelcontextprotocol/server'
import { isRecord } from '../../runtime/guards.ts'
import { compileSchema } from '../../schema/compile-schema.ts'
import { type JsonSchema, propertiesOf, requiredOf } from '../../schema/json-schema.ts'
import { isDearToCompile } from '../../schema/validation-cost.ts'
import type { Tool } from '../../tools/tool.ts'
import { MAX_OUTPUT_SCHEMA } from '../limits.ts'
import { inputSchemaOf, shownSchema } from '../tool-info.ts'

/** Others get their turn after so long. */
const SLICE_MS = 5

/** The tools as `tools/list` gives them. Remembered by tool: a list is asked for often, and tools do not change. */
export class ToolList {
  readonly #entries = new WeakMap<Tool, McpToolEntry>()

  async entries(tools: readonly Tool[]): Promise<McpToolEntry[]> {
    const entries: McpToolEntry[] = []
    let until = performance.now() + SLICE_MS
    for (const tool of [...tools]) {
      entries.push(this.#entries.get(tool) ?? (await this.#describe(tool)))
      if (performance.now() < until) continue
      await nextTurn()
      until = performance.now() + SLICE_MS
    }
    return entries
  }

  async #describe(tool: Tool): Promise<McpToolEntry> {
    const entry = await describe(tool)
    this.#entries.set(tool, entry)
    return entry
  }
}

async function describe(tool: Tool): Promise<McpToolEntry> {
  const { name, title, description, readOnly, idempotent, destructive } = tool
  const outputSchema = await usableOutput(shownSchema(() => tool.outputSchema, MAX_OUTPUT_SCHEMA))
  const annotations = {
    ...(readOnly !== undefined && { readOnlyHint: readOnly }),
    ...(idempotent !== undefined && { idempotentHint: idempotent }),
    ...(destructive !== undefined && { destructiveHint: destructive }),
  }
  return {
    name,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    inputSchema: objectSchema(inputSchemaOf(tool)),
    ...(outputSchema && { outputSchema }),
    ...(Object.keys(annotations).length > 0 && { annotations }),
  }
}

/** Clients refuse a whole list for one schema that does not say `type: "object"`, or has `true` for a property. */
function objectSchema(schema: JsonSchema): McpToolEntry['inputSchema'] {
  const fixed: JsonSchema = { ...schema, type: 'object' }
  const properties = Object.entries(propertiesOf(schema)).map(([name, value]) => [name, objectForm(value)])
  if ('properties' in schema) fixed.properties = Object.fromEntries(properties)
  if ('required' in schema) fixed.required = requiredOf(schema)
  return fixed as McpToolEntry['inputSchema']
}

function objectForm(schema: unknown): object {
  if (isRecord(schema)) return schema
  return schema === false ? { not: {} } : {}
}

/** One output schema that does not compile makes a client refuse all tools: it is left out, and so is one that takes long. */
async function usableOutput(schema: JsonSchema | undefined): Promise<McpToolEntry['outputSchema']> {
  if (schema?.type !== 'object' || isDearToCompile(schema)) return undefined
  try {
    await compileSchema(schema)
    return objectSchema(schema)
  } catch {
    return undefined
  }
}
