import type { AIMessage, BaseMessage, ToolMessage } from '@langchain/core/messages'
import type { ToolResult } from '../call/tool-result.ts'
import type { ConversationMessage } from './ai-client.ts'
import { type LangChainMessages, loadMessages } from './load-langchain.ts'
import { ModelError } from './model-error.ts'
import { type Reply, type RequestedCall, textOfContent } from './read-reply.ts'

/** A call in the history, with a unique id. */
export interface NumberedCall extends RequestedCall {
  id: string
}

/** A conversation that grows turn by turn. The messages passed in are copied, never changed. */
export class Conversation {
  readonly messages: BaseMessage[]
  readonly #langchain: LangChainMessages
  readonly #ids: Set<string>

  private constructor(messages: BaseMessage[], langchain: LangChainMessages) {
    this.messages = messages
    this.#langchain = langchain
    this.#ids = new Set(messages.flatMap(message => callsIn(message).map(call => call.id ?? '')))
  }

  /** Loads LangChain. Rejects if the question is empty. */
  static async from(
    prompt: string | readonly ConversationMessage[],
    packages?: readonly string[],
  ): Promise<Conversation> {
    checkQuestion(prompt)
    const langchain = await loadMessages(packages)
    const given = typeof prompt === 'string' ? [new langchain.HumanMessage(prompt)] : prompt
    const messages = given.map(message => langchain.coerceMessageLikeToMessage(message as BaseMessage))
    return new Conversation(answerOpenCalls(messages, langchain), langchain)
  }

  /** Every call made in it. */
  calls(): { name: string; args?: unknown }[] {
    return this.messages.flatMap(callsIn)
  }

  /** Whether any result in it contains the text. */
  mentions(text: string): boolean {
    return this.messages.some(
      message =>
        message.getType() === 'tool' && typeof message.content === 'string' && message.content.includes(text),
    )
  }

  /** Adds the model's reply; returns its calls, each with a unique id. */
  addReply({ content, calls }: Pick<Reply, 'content' | 'calls'>): NumberedCall[] {
    const numbered = calls.map(call => ({ ...call, id: this.#uniqueId(call.id) }))
    const tool_calls = numbered.map(({ id, name, args }) => ({
      id,
      name,
      args: typeof args === 'string' ? {} : args,
      type: 'tool_call' as const,
    }))
    this.messages.push(new this.#langchain.AIMessage({ content: content as string, tool_calls }))
    return numbered
  }

  addResult(call: NumberedCall, content: string, result: ToolResult): void {
    this.messages.push(
      new this.#langchain.ToolMessage({
        content,
        tool_call_id: call.id,
        name: call.name,
        status: result.success ? 'success' : 'error',
      }),
    )
  }

  /** Some models restart their numbering every turn, and providers reject an id they have already seen. */
  #uniqueId(given: string | undefined): string {
    const id = given === undefined || this.#ids.has(given) ? newId() : given
    this.#ids.add(id)
    return id
  }
}

/** The text in the history for a call without a result. */
export function placeholder(name: string, reason: string): string {
  return `Error: No result for tool "${name}": ${reason}`
}

function checkQuestion(prompt: string | readonly ConversationMessage[]): void {
  const last = typeof prompt === 'string' ? { content: prompt } : prompt.at(-1)
  const isBlank = last === undefined || (typeof last.content === 'string' && last.content.trim() === '')
  const endsWithCalls = last !== undefined && callsIn(last).length > 0
  if (isBlank && !endsWithCalls) throw new ModelError('empty_question', 'The question is empty')
}

function callsIn(message: object): NonNullable<AIMessage['tool_calls']> {
  return (message as AIMessage).tool_calls ?? []
}

/**
 * Puts each call's result right after it, in the order of the calls: providers reject anything else, or match
 * results by order alone. Results without a call are dropped.
 */
function answerOpenCalls(messages: readonly BaseMessage[], langchain: LangChainMessages): BaseMessage[] {
  const complete: BaseMessage[] = []
  for (let at = 0; at < messages.length; at++) {
    const message = withIds(messages[at] as BaseMessage, langchain)
    if (message.getType() === 'tool') continue
    complete.push(message)
    const results = resultsAfter(messages, at)
    for (const call of callsIn(message)) complete.push(results.get(call.id) ?? missing(call, langchain))
  }
  return complete
}

/** The message itself, or a copy in which every call has an id. */
function withIds(message: BaseMessage, langchain: LangChainMessages): BaseMessage {
  const calls = callsIn(message)
  if (calls.every(call => call.id)) return message
  const tool_calls = calls.map(call => ({ ...call, id: call.id || newId() }))
  return new langchain.AIMessage({ content: message.content as string, tool_calls })
}

function newId(): string {
  return `call_${crypto.randomUUID()}`
}

function resultsAfter(messages: readonly BaseMessage[], at: number): Map<string | undefined, ToolMessage> {
  const results = new Map<string | undefined, ToolMessage>()
  for (let next = at + 1; messages[next]?.getType() === 'tool'; next++) {
    const result = messages[next] as ToolMessage
    results.set(result.tool_call_id, result)
  }
  return results
}

function missing(
  { id, name }: { id?: string | undefined; name: string },
  langchain: LangChainMessages,
): ToolMessage {
  const content = placeholder(name, 'the conversation was interrupted')
  return new langchain.ToolMessage({ content, tool_call_id: id ?? '', name, status: 'error' })
}

/** The same messages with plain text content, for providers that accept nothing else. */
export function flattened(messages: readonly BaseMessage[], langchain: LangChainMessages): BaseMessage[] {
  return messages.map(message => {
    if (typeof message.content === 'string') return message
    const content = textOfContent(message.content)
    if (langchain.AIMessage.isInstance(message))
      return new langchain.AIMessage({ content, tool_calls: callsIn(message) })
    if (langchain.ToolMessage.isInstance(message))
      return new langchain.ToolMessage({ content, tool_call_id: message.tool_call_id })
    return message
  })
}
