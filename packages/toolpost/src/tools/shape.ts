import { type JsonSchema, jsonSchemaOf, propertiesOf, requiredOf } from '../schema/json-schema.ts'
import { isObjectLike } from '../util/guards.ts'
import type { Tool } from './tool.ts'
import { ToolOutput } from './tool-output.ts'
import { fitsTool } from './tool-pattern.ts'

/** How a tool of somebody else is shown and called, as in `shape` of the configuration. */
export interface ToolShape {
  /** Replaces the tool's own. */
  description?: string | undefined
  /** Arguments that every call gets; callers neither see nor change them. */
  fixed?: Readonly<Record<string, unknown>> | undefined
  /** Arguments that callers neither see nor pass. */
  hidden?: readonly string[] | undefined
  /** JMESPath: what to keep of the result, which is JSON or text with JSON. */
  result?: string | undefined
}

/** The tool as the shapes whose pattern matches want it; the later ones win. Without any, the tool itself. */
export function shapedTool(
  tool: Tool,
  server: string | undefined,
  shapes: Readonly<Record<string, ToolShape>> = {},
): Tool {
  const fitting = Object.entries(shapes).filter(([pattern]) => fitsTool(pattern, tool, server))
  if (fitting.length === 0) return tool
  const shape: ToolShape = Object.assign({}, ...fitting.map(([, each]) => each))
  const { description = tool.description, fixed = {}, hidden = [], result } = shape
  const removed = new Set([...hidden, ...Object.keys(fixed)])
  const own = jsonSchemaOf(tool)
  const properties = Object.entries(propertiesOf(own)).filter(([name]) => !removed.has(name))
  const required = requiredOf(own).filter(name => !removed.has(name))
  const left: JsonSchema = { ...own, properties: Object.fromEntries(properties), required }
  return {
    ...tool,
    name: tool.name,
    description,
    schema: removed.size > 0 ? left : tool.schema,
    ...(result !== undefined && { outputSchema: undefined }),
    async invoke(args, options) {
      const given = Object.entries(args).filter(([name]) => !removed.has(name))
      const project = result === undefined ? undefined : await projection(result)
      const output = await tool.invoke({ ...Object.fromEntries(given), ...fixed }, options)
      return project ? project(output) : output
    },
  }
}

/** Loaded when it is needed. Rejects, before the tool runs, if the expression is not JMESPath. */
export async function projection(expression: string): Promise<(output: unknown) => unknown> {
  const { compile, search } = await import('@jmespath-community/jmespath')
  try {
    compile(expression)
  } catch (error) {
    throw new Error(`The result of this tool is shaped by an invalid JMESPath: ${(error as Error).message}`)
  }
  return output => {
    const value = output instanceof ToolOutput ? output.value : output
    try {
      const data = typeof value === 'string' ? JSON.parse(value) : value
      return isObjectLike(data) ? search(data as never, expression) : output
    } catch {
      // The tool has run, and its result is not as the expression expects: better too much than nothing.
      return output
    }
  }
}
