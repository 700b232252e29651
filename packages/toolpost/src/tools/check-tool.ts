import { type JsonSchema, jsonSchemaOf } from '../schema/json-schema.ts'
import { sizeProblem } from '../schema/limits.ts'
import { isObjectLike } from '../util/guards.ts'
import type { Tool } from './tool.ts'

/** A tool, or a declaration of one, that cannot be used: a mistake in the program or its configuration. */
export class ToolDefinitionError extends Error {
  override name = 'ToolDefinitionError'
}

export function checkName(name: unknown): void {
  if (typeof name !== 'string' || name.trim() === '') throw new ToolDefinitionError('A tool needs a name')
}

/** Returns the tool if it can be registered; otherwise throws a ToolDefinitionError. MCP tools may lack a description. */
export function checkedTool(tool: unknown, { needsDescription = true } = {}): Tool {
  if (!isObjectLike(tool))
    throw new ToolDefinitionError(`A tool must be an object, got ${tool === null ? 'null' : typeof tool}`)
  const { name, description, invoke, schema } = tool as Partial<Tool>
  checkName(name)
  const isDescribed = typeof description === 'string' && description.trim() !== ''
  const problem =
    (typeof invoke !== 'function' && 'it has no invoke(args, options)') ||
    (needsDescription && !isDescribed && 'it has no description for the model') ||
    (!isObjectLike(schema) && 'it has no schema; use { type: "object" } to accept any arguments') ||
    schemaProblemOf(tool as Tool)
  if (problem) throw new ToolDefinitionError(`Tool '${name}' cannot be used: ${problem}`)
  return tool as Tool
}

function schemaProblemOf(tool: Tool): string | undefined {
  let schema: JsonSchema
  try {
    schema = jsonSchemaOf(tool)
  } catch (error) {
    return `its schema cannot be read: ${(error as Error).message}`
  }
  const { type = 'object' } = schema
  if (![type].flat().includes('object'))
    return `its schema must be of type object, got ${JSON.stringify(type)}`
  const problem = sizeProblem(schema)
  if (problem) return `its schema cannot be read: ${problem}`
  const outputProblem = tool.outputSchema && sizeProblem(tool.outputSchema)
  return outputProblem && `its output schema cannot be read: ${outputProblem}`
}
