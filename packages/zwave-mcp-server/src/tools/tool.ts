import type { CallToolResult } from '@modelcontextprotocol/server'
import type { Device } from '../zwave/device.ts'
import type { ZwaveNetwork } from '../zwave/network.ts'

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

export type Arguments = Readonly<Record<string, unknown>>

/** What a tool does; `data/tools.json` has its definition. It receives arguments that match its schema. */
export type RunTool = (args: Arguments, context: ToolContext) => Promise<CallToolResult>

/** What to do if no gateway has been seen, e.g. because it retains nothing. */
export const UNKNOWN_GATEWAY =
  'No gateway has been seen: check that Z-Wave JS UI uses this topic prefix, turn on Retain in its MQTT settings, or set ZWAVE_GATEWAY_NAME.'

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

/** Waits for the state of the home. Returns a sentence saying why if the broker is unreachable. */
export async function whyNotReady(network: ZwaveNetwork): Promise<string | undefined> {
  const cause = await network.whyNotReady()
  return cause && `The MQTT broker at ${network.link.url} is unreachable: ${cause}.`
}

/** The fields that identify the device in an answer. */
export function deviceFields({ name, location, nodeId }: Device): Record<string, unknown> {
  return { device: name, location: location ?? null, nodeId: nodeId ?? null }
}
