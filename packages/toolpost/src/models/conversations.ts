import type { ConversationMessage } from './ai-client.ts'
import { roleOf } from './conversation.ts'

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
