import { type JsonSchema, jsonSchemaOf } from '../../schema/json-schema.ts'
import type { Tool } from '../../tools/tool.ts'

/** A tool as Qwen, and every model on Ollama, wants it described. */
export interface QwenTool {
  type: 'function'
  function: { name: string; description: string; parameters: JsonSchema }
}

/** Describes tools in Qwen's format. Pure: the tools stay as they are; nothing gives `[]`. */
export function toQwenTools(tools: readonly Tool[] | null | undefined): QwenTool[] {
  return (tools ?? []).map(tool => ({
    type: 'function',
    function: { name: offeredName(tool), description: descriptionOf(tool), parameters: parametersOf(tool) },
  }))
}

/** `lc_name` if it is a text, else `name`. */
export function offeredName({ name, lc_name }: Tool): string {
  return typeof lc_name === 'string' && lc_name !== '' ? lc_name : name
}

/** A model does not call what is not described; a name in words is better than nothing. */
function descriptionOf({ name, description }: Tool): string {
  return description?.trim() || name.replace(/[_-]+/g, ' ')
}

/** A schema that cannot be read is left open: the tool is still there, and the executor says what is wrong with it. */
function parametersOf(tool: Tool): JsonSchema {
  try {
    const { $schema, ...schema } = jsonSchemaOf(tool)
    return { ...schema, type: 'object' }
  } catch {
    return { type: 'object', properties: {} }
  }
}
