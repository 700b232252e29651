import type { ToolExecutor } from '../executor/executor.ts'
import { type AdapterOptions, adaptedTools, outputOf, standardSchema } from './adapted-tools.ts'

export interface MastraTool {
  id: string
  description: string
  inputSchema: ReturnType<typeof standardSchema>
  execute(input: unknown, context?: MastraContext): Promise<unknown>
}

interface MastraContext {
  abortSignal?: AbortSignal | undefined
  toolCallId?: string | undefined
  agent?: { toolCallId?: string | undefined } | undefined
}

/** The executor's tools for agents and workflows of Mastra. A failed call throws a ToolCallError. */
export function toMastraTools(executor: ToolExecutor, options?: AdapterOptions): Record<string, MastraTool> {
  const entries = adaptedTools(executor, options).map(({ name, description, schema, run }) => {
    const tool: MastraTool = {
      id: name,
      description,
      inputSchema: standardSchema(schema),
      async execute(input, { abortSignal: signal, toolCallId, agent } = {}) {
        return outputOf(await run(input, { id: toolCallId ?? agent?.toolCallId, signal }), executor)
      },
    }
    return [name, tool] as const
  })
  return Object.fromEntries(entries)
}
