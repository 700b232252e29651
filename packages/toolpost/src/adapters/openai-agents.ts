import type { ToolExecutor } from '../executor/executor.ts'
import { imagesIn } from '../models/conversation.ts'
import { propertiesOf, requiredOf } from '../schema/json-schema.ts'
import { type AdapterOptions, adaptedTools } from './adapted-tools.ts'

export interface OpenAiAgentsTool {
  type: 'function'
  name: string
  description: string
  parameters: {
    type: 'object'
    properties: Record<string, never>
    required: string[]
    additionalProperties: true
  }
  strict: false
  invoke(
    context: unknown,
    input: string,
    details?: { toolCall?: { callId?: string }; signal?: AbortSignal },
  ): Promise<string | AgentsPart[]>
  needsApproval(): Promise<boolean>
  isEnabled(): Promise<boolean>
}

type AgentsPart =
  | { type: 'text'; text: string }
  | { type: 'image'; image: { data: string; mediaType: string } }

/** The executor's tools for an `Agent` of OpenAI Agents. A failed call gives the model its text, and the run continues. */
export function toOpenAiAgentsTools(executor: ToolExecutor, options?: AdapterOptions): OpenAiAgentsTool[] {
  return adaptedTools(executor, options).map(({ name, description, schema, run }) => ({
    type: 'function',
    name,
    description,
    parameters: {
      ...schema,
      type: 'object',
      properties: propertiesOf(schema) as Record<string, never>,
      required: requiredOf(schema),
      additionalProperties: true,
    },
    strict: false,
    async invoke(_context, input, { toolCall, signal } = {}) {
      const result = await run(parsed(input), { id: toolCall?.callId, signal })
      const text = executor.text(result)
      const images = imagesIn(result).map(
        ({ data, mimeType }): AgentsPart => ({ type: 'image', image: { data, mediaType: mimeType } }),
      )
      return images.length > 0 ? [{ type: 'text', text }, ...images] : text
    },
    needsApproval: async () => false,
    isEnabled: async () => true,
  }))
}

/** What is not JSON stays text, and the executor says what is wrong with it. */
function parsed(input: string): unknown {
  try {
    return input.trim() === '' ? {} : JSON.parse(input)
  } catch {
    return input
  }
}
