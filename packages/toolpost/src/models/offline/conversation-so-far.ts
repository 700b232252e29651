import type { ConversationMessage } from '../ai-client.ts'
import { roleOf } from '../conversations.ts'
import { textOfContent } from '../read-reply.ts'
import { WHAT_TO_DO } from './asked-back.ts'
import type { Home } from './home/home.ts'
import type { Mentioned } from './request.ts'
import { ZWAVE_LIST } from './zwave.ts'

/** The earlier conversation, which says what "it", "yes" and "again" mean. */
export interface SoFar {
  readonly messages: readonly ConversationMessage[]
}

const NOTHING_YET: SoFar = { messages: [] }

/** The question: the text, or the last message of a conversation. */
export function questionIn(prompt: string | readonly ConversationMessage[]): string {
  return typeof prompt === 'string' ? prompt : textOfContent(prompt.at(-1)?.content)
}

export function soFar(prompt: string | readonly ConversationMessage[]): SoFar {
  return typeof prompt === 'string' ? NOTHING_YET : { messages: prompt.slice(0, -1) }
}

/** The last answer, if it is the last message. */
export function lastAnswer({ messages }: SoFar): string {
  const last = messages.at(-1)
  return last && roleOf(last) === 'assistant' ? textOfContent(last.content) : ''
}

/** The last request, and the conversation before it. */
export function lastQuestion({ messages }: SoFar): { text: string; before: SoFar } | undefined {
  const at = messages.findLastIndex(message => roleOf(message) === 'user')
  const message = messages[at]
  return message && { text: textOfContent(message.content), before: { messages: messages.slice(0, at) } }
}

/** The devices of the latest calls that had any, or those named in the answer to a question about several. */
export function mentionedIn(before: SoFar, home?: Home): Mentioned {
  const { messages } = before
  const [, asked] = WHAT_TO_DO.exec(lastAnswer(before)) ?? []
  if (asked !== undefined) return { devices: [asked] }
  let isSound = false
  for (let at = messages.length - 1; at >= 0; at--) {
    const { tool_calls: calls = [] } = messages[at] as { tool_calls?: MadeCall[] }
    if (calls.length === 0) continue
    if (calls.some(({ name }) => name === 'volume')) isSound = true
    const devices = devicesOf(calls)
    const isList = calls.some(({ name }) => name?.endsWith(ZWAVE_LIST.tool))
    const named = devices.length === 0 && isList ? namesIn(messages.slice(at + 1), home) : devices
    if (named.length > 0) return { devices: [...new Set(named)], isSound }
  }
  return { devices: [], isSound }
}

export interface MadeCall {
  name?: string
  args?: Record<string, unknown>
}

export function devicesOf(calls: readonly MadeCall[]): string[] {
  return calls.flatMap(({ args }) => (typeof args?.deviceName === 'string' ? [args.deviceName] : []))
}

/** The calls of the last turn. */
export function madeCalls({ messages }: SoFar): readonly MadeCall[] {
  const start = messages.findLastIndex(message => roleOf(message) === 'user')
  return messages
    .slice(start + 1)
    .flatMap(message => (message as { tool_calls?: MadeCall[] }).tool_calls ?? [])
}

/** Devices named in an answer; "Porch Light" does not name "Light". */
function namesIn(messages: readonly ConversationMessage[], home: Home | undefined): string[] {
  const answer = messages.find(message => roleOf(message) === 'assistant')
  const text = answer ? textOfContent(answer.content) : ''
  const found = (home?.devices ?? []).map(({ call }) => call).filter(name => text.includes(name))
  return found.filter(name => !found.some(other => other !== name && other.includes(name)))
}
