import type { CallToolResult, Tool } from '@modelcontextprotocol/server'
import type { ZwaveNetwork } from '../zwave/zwave-network.ts'

/** What a tool works with. */
export interface ToolContext {
  readonly network: ZwaveNetwork
  readonly confirmTimeoutMs: number
  readonly staleMs: number
  /** Whether the home is only played: then the tools say so. */
  readonly virtual: boolean
  readonly now: () => number
  readonly signal?: AbortSignal
}

/** A tool: what a model reads of it, and what it does. `run` gets arguments that fit the schema. */
export interface ZwaveTool {
  readonly definition: Tool & { readonly inputSchema: ArgumentSchema }
  run(args: Arguments, context: ToolContext): Promise<CallToolResult>
}

export type Arguments = Readonly<Record<string, unknown>>

export interface PropertySchema {
  readonly type: 'string' | 'boolean' | 'number'
  readonly description: string
  readonly enum?: readonly string[]
  readonly minLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly default?: boolean
}

/** The part of JSON Schema that the tools use for their arguments. */
export interface ArgumentSchema {
  readonly type: 'object'
  readonly properties: Readonly<Record<string, PropertySchema>>
  readonly required?: string[]
  readonly additionalProperties: false
}

/** An answer: a sentence to be spoken, and the same as data that fits the tool's output schema. */
export function answer(text: string, structuredContent: Record<string, unknown>): CallToolResult {
  return { content: [{ type: 'text', text }], structuredContent }
}

/** A refusal or failure, in a sentence that says why. */
export function refuse(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true }
}

/** Words as a list: "a", "a and b", "a, b and c". */
export function listWords(words: readonly string[], joint = 'and'): string {
  if (words.length < 2) return words.join('')
  return `${words.slice(0, -1).join(', ')} ${joint} ${words.at(-1)}`
}

/** Why nothing can be said or done: the broker is not there. */
export function brokerUnreachable(url: string, cause: string): string {
  return `The MQTT broker at ${url} is unreachable: ${cause}.`
}
