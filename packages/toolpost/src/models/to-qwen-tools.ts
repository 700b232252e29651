import { type JsonSchema, jsonSchemaOf } from '../schema/json-schema.ts'
import type { Tool } from '../tools/tool.ts'

/** A tool in the format that Qwen, every other model on Ollama, and OpenAI's API expect. */
export interface QwenTool {
  type: 'function'
  function: { name: string; description: string; parameters: JsonSchema }
}

/** Describes tools in Qwen's format. Pure: the tools are not changed; `null` or `undefined` returns `[]`. */
export function toQwenTools(tools: readonly Tool[] | null | undefined): QwenTool[] {
  return (tools ?? []).map(tool => ({
    type: 'function',
    function: { name: offeredName(tool), description: descriptionOf(tool), parameters: parametersOf(tool) },
  }))
}

/** `lc_name` if it is a non-empty string, else `name`. */
export function offeredName({ name, lc_name }: Tool): string {
  return typeof lc_name === 'string' && lc_name !== '' ? lc_name : name
}

/** Models ignore tools without a description; the name in words is better than nothing. */
function descriptionOf({ name, description }: Tool): string {
  return description?.trim() || name.replace(/[_-]+/g, ' ')
}

/** An unreadable schema is left open: the tool is still offered, and the executor says what is wrong. */
function parametersOf(tool: Tool): JsonSchema {
  try {
    const { $schema, ...schema } = jsonSchemaOf(tool)
    return { ...schema, type: 'object' }
  } catch {
    return { type: 'object', properties: {} }
  }
}
