import { jsonSchemaOf } from '../schema/json-schema.ts'
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
  const refuse = (reason: string) => {
    throw new ToolDefinitionError(`Tool '${name}' cannot be used: ${reason}`)
  }
  if (typeof invoke !== 'function') refuse('it has no invoke(args, options)')
  if (needsDescription && (typeof description !== 'string' || description.trim() === '')) {
    refuse('it has no description for the model')
  }
  if (!isObjectLike(schema)) refuse('it has no schema; use { type: "object" } to accept any arguments')
  checkSchema(tool as Tool, refuse)
  return tool as Tool
}

function checkSchema(tool: Tool, refuse: (reason: string) => void): void {
  let schema: unknown
  try {
    schema = jsonSchemaOf(tool)
  } catch (error) {
    refuse(`its schema cannot be read: ${(error as Error).message}`)
  }
  const { type } = schema as { type?: unknown }
  if (type !== undefined && type !== 'object' && !(Array.isArray(type) && type.includes('object'))) {
    refuse(`its schema must be of type object, got ${JSON.stringify(type)}`)
  }
  const problem = sizeProblem(schema as object)
  if (problem) refuse(`its schema cannot be read: ${problem}`)
  const outputProblem = tool.outputSchema && sizeProblem(tool.outputSchema)
  if (outputProblem) refuse(`its output schema cannot be read: ${outputProblem}`)
}
