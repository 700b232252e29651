import { jsonSchemaOf, type StandardSchema } from '../../schema/json-schema.ts'
import type { Tool } from '../../tools/tool.ts'

/** ChatAnthropic knows JSON Schema and zod; any other schema is converted to JSON Schema. */
export function inAnthropicFormat(tool: Tool): Tool {
  const { vendor } = (tool.schema as Partial<StandardSchema>)['~standard'] ?? {}
  if (vendor === undefined || vendor === 'zod') return tool
  const { name, description, invoke } = tool
  return { name, description, schema: jsonSchemaOf(tool), invoke }
}
