import { jsonSchemaOf, type StandardSchema } from '../../schema/json-schema.ts'
import type { Tool } from '../../tools/tool.ts'

/** ChatAnthropic knows JSON Schema and zod; any other schema goes as the JSON Schema that it gives. */
export function inAnthropicFormat(tool: Tool): Tool {
  const { vendor } = (tool.schema as Partial<StandardSchema>)['~standard'] ?? {}
  if (vendor === undefined || vendor === 'zod') return tool
  const { name, description, invoke } = tool
  return { name, description, schema: jsonSchemaOf(tool), invoke }
}
