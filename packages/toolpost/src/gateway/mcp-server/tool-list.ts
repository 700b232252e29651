import type { Tool as McpToolEntry } from '@modelcontextprotocol/server'
import { compileSchema } from '../../schema/compile-schema.ts'
import { type JsonSchema, jsonSchemaOf } from '../../schema/json-schema.ts'
import { isDearToCompile } from '../../schema/validation-cost.ts'
import type { Tool } from '../../tools/tool.ts'

/** The tools as `tools/list` gives them. Remembered by tool: a list is asked for often, and tools do not change. */
export class ToolList {
  readonly #entries = new WeakMap<Tool, Promise<McpToolEntry>>()

  entries(tools: readonly Tool[]): Promise<McpToolEntry[]> {
    return Promise.all(tools.map(tool => this.#entryOf(tool)))
  }

  #entryOf(tool: Tool): Promise<McpToolEntry> {
    let entry = this.#entries.get(tool)
    if (!entry) {
      entry = describe(tool)
      this.#entries.set(tool, entry)
    }
    return entry
  }
}

async function describe(tool: Tool): Promise<McpToolEntry> {
  const { name, title, description, readOnly, idempotent, destructive } = tool
  const outputSchema = await usableOutput(tool.outputSchema)
  const annotations = {
    ...(readOnly !== undefined && { readOnlyHint: readOnly }),
    ...(idempotent !== undefined && { idempotentHint: idempotent }),
    ...(destructive !== undefined && { destructiveHint: destructive }),
  }
  return {
    name,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    inputSchema: objectSchema(jsonSchemaOf(tool)),
    ...(outputSchema && { outputSchema }),
    ...(Object.keys(annotations).length > 0 && { annotations }),
  }
}

/** Clients refuse a whole list for one schema that does not say `type: "object"`. */
function objectSchema(schema: JsonSchema): McpToolEntry['inputSchema'] {
  return { ...schema, type: 'object' }
}

/** One output schema that does not compile makes a client refuse all tools: such a one, or one that takes long, is left out. */
async function usableOutput(schema: JsonSchema | undefined): Promise<McpToolEntry['outputSchema']> {
  if (schema?.type !== 'object' || isDearToCompile(schema)) return undefined
  try {
    await compileSchema(schema)
    return objectSchema(schema)
  } catch {
    return undefined
  }
}
