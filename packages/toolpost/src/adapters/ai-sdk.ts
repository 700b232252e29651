import type { ToolExecutor } from '../executor/executor.ts'
import {
  type AdapterOptions,
  adaptedTools,
  outputOf,
  standardSchema,
  type TextAndImages,
} from './adapted-tools.ts'

export interface AiSdkTool {
  description: string
  inputSchema: ReturnType<typeof standardSchema>
  execute(
    input: unknown,
    options?: { toolCallId?: string; abortSignal?: AbortSignal | undefined },
  ): Promise<unknown>
  toModelOutput(options: { output: unknown }): AiSdkOutput
}

type AiSdkOutput =
  | { type: 'text'; value: string }
  | { type: 'json'; value: never }
  | { type: 'content'; value: AiSdkPart[] }
type AiSdkPart =
  | { type: 'text'; text: string }
  | { type: 'file'; mediaType: string; data: { type: 'data'; data: string } }

/** The executor's tools for `generateText` and `streamText` of the Vercel AI SDK. A failed call is a `tool-error`. */
export function toAiSdkTools(executor: ToolExecutor, options?: AdapterOptions): Record<string, AiSdkTool> {
  const entries = adaptedTools(executor, options).map(({ name, description, schema, run }) => {
    const tool: AiSdkTool = {
      description,
      inputSchema: standardSchema(schema),
      execute: async (input, { toolCallId: id, abortSignal: signal } = {}) =>
        outputOf(await run(input, { id, signal }), executor),
      toModelOutput: ({ output }) => modelOutput(output),
    }
    return [name, tool] as const
  })
  return Object.fromEntries(entries)
}

function modelOutput(output: unknown): AiSdkOutput {
  if (typeof output === 'string') return { type: 'text', value: output }
  const { text, images } = (output ?? {}) as Partial<TextAndImages>
  if (text === undefined || !Array.isArray(images)) return { type: 'json', value: output as never }
  const files = images.map(
    ({ data, mimeType }): AiSdkPart => ({ type: 'file', mediaType: mimeType, data: { type: 'data', data } }),
  )
  return { type: 'content', value: [{ type: 'text', text }, ...files] }
}
