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

export type PropertySchema = {
  readonly type: 'string' | 'boolean' | 'number'
  readonly description: string
  readonly enum?: string[]
  readonly minLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly default?: boolean
}

/** The part of JSON Schema that the tools use for their arguments. */
export type ArgumentSchema = {
  readonly type: 'object'
  readonly properties: Readonly<Record<string, PropertySchema>>
  readonly required?: string[]
  readonly additionalProperties: false
}

type OutputSchema = NonNullable<Tool['outputSchema']>

/** The schema of a tool's arguments. */
export function takes(properties: ArgumentSchema['properties'], required?: string[]): ArgumentSchema {
  return { type: 'object', properties, ...(required && { required }), additionalProperties: false }
}

const TEXT = { type: 'string' } as const
const TEXT_OR_NULL = { type: ['string', 'null'] } as const

/** Fields of answers. */
export const FIELDS = {
  text: TEXT,
  textOrNull: TEXT_OR_NULL,
  boolean: { type: 'boolean' },
  booleanOrNull: { type: ['boolean', 'null'] },
  integer: { type: 'integer' },
  numberOrNull: { type: ['number', 'null'] },
  /** Which device an answer is about. */
  device: { device: TEXT, location: TEXT_OR_NULL, nodeId: { type: ['integer', 'null'] } },
} as const

/** The schema of an answer: an object that always has exactly these fields. */
export function fields(properties: Record<string, object>): OutputSchema & { type: 'object' } {
  const schema = {
    type: 'object',
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  }
  return schema as OutputSchema & { type: 'object' }
}

/** The annotations of a tool that only reads. */
export const READS = { readOnlyHint: true, idempotentHint: true, openWorldHint: false } as const

/** The annotations of a tool that sets a state, and may be called again without harm. */
export const SETS = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
} as const

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

export function brokerUnreachable(url: string, cause: string): string {
  return `The MQTT broker at ${url} is unreachable: ${cause}.`
}

/** Waits for the state of the home. Gives the reason, in a sentence, if there is no broker. */
export async function whyNotReady(network: ZwaveNetwork): Promise<string | undefined> {
  const readiness = await network.ready()
  return readiness.ready ? undefined : brokerUnreachable(network.brokerUrl, readiness.cause)
}

/** What to do if a gateway that retains nothing has not shown itself. */
export const UNKNOWN_GATEWAY =
  'The gateway has not shown itself: check that Z-Wave JS UI runs with this topic prefix, turn on Retain in its MQTT settings, or set ZWAVE_GATEWAY_NAME.'
