import type { ToolResult } from '../call/tool-result.ts'
import type { ToolExecutor } from '../executor/executor.ts'
import type { CallerOptions } from '../executor/options.ts'
import { imagesIn } from '../models/conversation.ts'
import { fitSchema, safeNames, TOOL_NAME, toQwenTools } from '../models/fit-schema.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import type { Tool } from '../tools/tool.ts'

export interface AdapterOptions extends CallerOptions {
  /** The tools to pass on; all of the executor's if left out. */
  tools?: readonly Tool[] | undefined
}

/** A tool under a name and with a schema that every provider accepts. */
export interface AdaptedTool {
  name: string
  description: string
  schema: JsonSchema
  /** Through the executor: validation, repair, policy, deadline, history. Never rejects. */
  run(args: unknown, call: { id?: string | undefined; signal?: AbortSignal | undefined }): Promise<ToolResult>
}

export function adaptedTools(executor: ToolExecutor, options: AdapterOptions = {}): AdaptedTool[] {
  // A model calls them, so the rules for models apply.
  const { tools = [...executor.tools.getTools()], origin = 'chat', ...caller } = options
  const safe = safeNames(
    tools.map(({ name }) => name),
    TOOL_NAME,
  )
  return toQwenTools(tools).map(({ function: { description, parameters } }, at) => {
    const { name } = tools[at] as Tool
    return {
      name: safe.get(name) ?? name,
      description,
      schema: fitSchema(parameters, 'openai').schema,
      run: (args, { id, signal }) =>
        executor.run({ id, name, args }, { ...caller, origin, signal, repair: true, among: tools }),
    }
  })
}

/** A failed call, for libraries that expect an exception: its message is what a model should read. */
export class ToolCallError extends Error {
  // Libraries put the name before the message: models read the same `Error: …` everywhere.
  override name = 'Error'
  readonly result: ToolResult

  constructor(result: ToolResult, text: string) {
    super(text.replace(/^Error: /, ''))
    this.result = result
  }
}

/** A result with images, in the parts of MCP. */
export interface TextAndImages {
  text: string
  images: { data: string; mimeType: string }[]
}

/** What a program gets: the value, the text of MCP content, or text and images. Throws a ToolCallError. */
export function outputOf(result: ToolResult, executor: ToolExecutor): unknown {
  const text = executor.text(result)
  if (!result.success) throw new ToolCallError(result, text)
  const images = imagesIn(result)
  if (images.length > 0) return { text, images } satisfies TextAndImages
  return result.text === undefined && typeof result.result === 'object' ? result.result : text
}

/** Standard JSON Schema, which the libraries read without a conversion. The executor validates. */
export function standardSchema(schema: JsonSchema) {
  return {
    '~standard': {
      version: 1 as const,
      vendor: 'toolpost',
      validate: (value: unknown) => ({ value }),
      jsonSchema: { input: () => structuredClone(schema), output: () => structuredClone(schema) },
      types: undefined as { input: unknown; output: unknown } | undefined,
    },
  }
}
