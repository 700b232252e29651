import type { AIMessage, BaseMessage, ToolMessage } from '@langchain/core/messages'
import type { ToolResult } from '../call/tool-result.ts'
import type { ConversationMessage, Prompt } from './ai-client.ts'
import { type LangChainMessages, loadLangChain } from './langchain.ts'
import { MAX_IMAGE_BYTES, MAX_IMAGES } from './limits.ts'
import { ModelError } from './model-error.ts'
import type { Reply, RequestedCall } from './read-reply.ts'

export type NumberedCall = RequestedCall & { id: string }

/** An image of a result, as base64. Kept as the `artifact` of its ToolMessage, whose content is text. */
type ResultImage = { type: 'image'; mimeType: string; data: string }

export type Conversation = Awaited<ReturnType<typeof startConversation>>

/** A conversation that grows turn by turn. Copies the messages it is given. Rejects if the question is empty. */
export async function startConversation(prompt: Prompt, provider: string) {
  const last = typeof prompt === 'string' ? { content: prompt } : prompt.at(-1)
  const isBlank = last === undefined || (typeof last.content === 'string' && last.content.trim() === '')
  if (isBlank && callsIn(last ?? {}).length === 0)
    throw new ModelError('empty_question', 'The question is empty')
  const langchain = await loadLangChain(provider, () => import('@langchain/core/messages'))
  const { AIMessage, HumanMessage, ToolMessage, coerceMessageLikeToMessage } = langchain
  const given = typeof prompt === 'string' ? [new HumanMessage(prompt)] : prompt
  const coerced = given.map(message => coerceMessageLikeToMessage(message as BaseMessage))
  const messages = answerOpenCalls(coerced, langchain)
  const ids = new Set(messages.flatMap(callsIn).map(call => call.id ?? ''))
  return {
    messages,
    langchain,

    /** Adds the model's reply; returns its calls, each with a unique id. */
    addReply({ content, calls }: Pick<Reply, 'content' | 'calls'>): NumberedCall[] {
      const numbered = calls.map(call => {
        // Some models restart their numbering every turn, and providers reject an id they have already seen.
        const id = call.id === undefined || ids.has(call.id) ? newId() : call.id
        ids.add(id)
        return { ...call, id }
      })
      const tool_calls = numbered.map(({ id, name, args }) => {
        return { id, name, args: typeof args === 'string' ? {} : args, type: 'tool_call' as const }
      })
      messages.push(new AIMessage({ content: content as string, tool_calls }))
      return numbered
    },

    addResult({ id: tool_call_id }: NumberedCall, content: string, result: ToolResult): void {
      const images = imagesIn(result).filter(({ data }) => data.length <= MAX_IMAGE_BYTES)
      const status = result.success ? 'success' : 'error'
      const artifact = images.length > 0 && { artifact: images.slice(0, MAX_IMAGES) }
      messages.push(new ToolMessage({ content, tool_call_id, status, ...artifact }))
    },
  }
}

export const noResult = (name: string, reason: string) => `No result for tool "${name}": ${reason}`

export function callsIn(message: object): NonNullable<AIMessage['tool_calls']> {
  return (message as AIMessage).tool_calls ?? []
}

const newId = () => `call_${crypto.randomUUID()}`

/**
 * Puts each call's result right after it, in the order of the calls: providers reject anything else, or match
 * results by order alone. Results without a call are dropped.
 */
function answerOpenCalls(messages: readonly BaseMessage[], langchain: LangChainMessages): BaseMessage[] {
  const { AIMessage, ToolMessage } = langchain
  return messages.flatMap((message, at) => {
    if (message.type === 'tool') return []
    const calls = callsIn(message).map(call => ({ ...call, id: call.id || newId() }))
    const hasIds = callsIn(message).every(call => call.id)
    const asked = hasIds ? message : new AIMessage({ content: message.content as string, tool_calls: calls })
    const next = messages.findIndex((other, index) => index > at && other.type !== 'tool')
    const results = messages.slice(at + 1, next < 0 ? undefined : next) as ToolMessage[]
    const answers = calls.map(({ id, name }) => {
      const content = `Error: ${noResult(name, 'the conversation was interrupted')}`
      const missing = () => new ToolMessage({ content, tool_call_id: id, status: 'error' })
      return results.find(({ tool_call_id }) => tool_call_id === id) ?? missing()
    })
    return [asked, ...answers]
  })
}

export function imagesIn(result: ToolResult): ResultImage[] {
  return imagesAmong(result.success ? result.content : [])
}

/** The images that came with a result, in its message. A caller's own artifacts may be anything. */
export function imagesOf(message: BaseMessage): ResultImage[] {
  return message.type === 'tool' ? imagesAmong((message as ToolMessage).artifact) : []
}

function imagesAmong(parts: unknown): ResultImage[] {
  const isImage = ({ type, data, mimeType }: ResultImage) =>
    type === 'image' && typeof data === 'string' && typeof mimeType === 'string'
  return Array.isArray(parts) ? parts.filter(part => isImage(Object(part))) : []
}

/** For providers that take images only from the user: a message with them after the results of a turn. */
export function withImagesAfterResults(
  messages: readonly BaseMessage[],
  { HumanMessage }: LangChainMessages,
): BaseMessage[] {
  let shown: object[] = []
  return messages.flatMap((message, at) => {
    for (const { mimeType, data } of imagesOf(message))
      shown.push({ type: 'image_url', image_url: { url: `data:${mimeType};base64,${data}` } })
    if (shown.length === 0 || messages[at + 1]?.type === 'tool') return [message]
    const content = [{ type: 'text', text: 'The images of the tool results above:' }, ...shown]
    shown = []
    return [message, new HumanMessage({ content: content as [] })]
  })
}

export function roleOf(message: ConversationMessage): string {
  if (!('getType' in message)) return message.role
  const type = message.getType()
  return type === 'human' ? 'user' : type === 'ai' ? 'assistant' : type
}

export interface ConversationsOptions {
  conversations: number
  messages: number
  /** How many characters each may have, arguments included; 200,000 if left out. */
  characters?: number | undefined
}

/** Conversations kept in memory; the least recently used one is evicted first. */
export class Conversations {
  readonly #kept = new Map<string, readonly ConversationMessage[]>()
  readonly #limits: ConversationsOptions

  constructor(limits: ConversationsOptions) {
    this.#limits = limits
  }

  of(id: string): readonly ConversationMessage[] | undefined {
    return this.#kept.get(id)
  }

  forget(id: string): void {
    this.#kept.delete(id)
  }

  /** Stores a conversation after an answer, without its system messages. Never cut between a question and its answer. */
  keep(id: string, messages: readonly ConversationMessage[]): void {
    const { conversations, messages: limit, characters = 200_000 } = this.#limits
    const said = messages.filter(message => roleOf(message) !== 'system').map(withoutImages)
    let room = characters
    let start = said.length
    for (const [at, message] of [...said.entries()].reverse().slice(0, limit)) {
      const { content, tool_calls } = message as { content: unknown; tool_calls?: unknown }
      room -= JSON.stringify([content, tool_calls]).length
      if (room < 0) break
      if (at === 0 || roleOf(message) === 'user') start = at
    }
    this.#kept.delete(id)
    this.#kept.set(id, said.slice(start))
    const [oldest = ''] = this.#kept.keys()
    if (this.#kept.size > conversations) this.#kept.delete(oldest)
  }
}

/** The images of results are for the question they belong to: kept in every conversation, they would fill the memory. */
function withoutImages(message: ConversationMessage): ConversationMessage {
  if (!(message as { artifact?: unknown }).artifact) return message
  return Object.assign(Object.create(Object.getPrototypeOf(message)), message, { artifact: undefined })
}
