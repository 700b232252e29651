import type { CallToolResult, Tool } from '@modelcontextprotocol/server'
import type { ZwaveNetwork } from '../zwave/zwave-network.ts'

/** What every tool has access to. */
export interface ToolContext {
  readonly network: ZwaveNetwork
  readonly confirmTimeoutMs: number
  readonly staleMs: number
  /** Whether the home is simulated; the tools then say so. */
  readonly virtual: boolean
  readonly now: () => number
  readonly signal?: AbortSignal
}

/** A tool: the definition a model sees, and what it does. `run` receives arguments that match the schema. */
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

/** The subset of JSON Schema that the tools use for their arguments. */
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

/** The schema of an answer: an object with exactly these fields, all required. */
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

/** The annotations of a tool that sets a state and can safely be called again. */
export const SETS = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
} as const

/** An answer: a sentence to be spoken, and the same as data matching the tool's output schema. */
export function answer(text: string, structuredContent: Record<string, unknown>): CallToolResult {
  return { content: [{ type: 'text', text }], structuredContent }
}

/** A refusal or failure, as a sentence that says why. */
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

/** Waits for the state of the home. Returns a sentence saying why if the broker is unreachable. */
export async function whyNotReady(network: ZwaveNetwork): Promise<string | undefined> {
  const readiness = await network.ready()
  return readiness.ready ? undefined : brokerUnreachable(network.brokerUrl, readiness.cause)
}

/** What to do if no gateway has been seen, e.g. because it retains nothing. */
export const UNKNOWN_GATEWAY =
  'No gateway has been seen: check that Z-Wave JS UI uses this topic prefix, turn on Retain in its MQTT settings, or set ZWAVE_GATEWAY_NAME.'
