import { randomUUID } from 'node:crypto'
import type { ConversationMessage } from '../models/ai-client.ts'
import { Conversations } from '../models/conversations.ts'
import { KEPT_CHARACTERS, KEPT_CONVERSATIONS, KEPT_MESSAGES } from './limits.ts'

/** The chat's conversations, each answering one question at a time. */
export class ChatConversations {
  readonly #kept = new Conversations({
    conversations: KEPT_CONVERSATIONS,
    messages: KEPT_MESSAGES,
    characters: KEPT_CHARACTERS,
  })
  readonly #busy = new Set<string>()

  /** The exact messages of a conversation, for the lifetime of this process. */
  of(id: string): readonly ConversationMessage[] | undefined {
    return this.#kept.of(id)
  }

  /** Reserves the conversation with this id, or a new one, until it is released. */
  place(id: string | undefined, prefix = ''): { id: string; release(): void } {
    const own = id ?? `${prefix}${randomUUID()}`
    this.#busy.add(own)
    return { id: own, release: () => void this.#busy.delete(own) }
  }

  forget(id: string): void {
    this.#kept.forget(id)
  }

  /** How many conversations are being answered. */
  get answering(): number {
    return this.#busy.size
  }

  isBusy(id: string | undefined): boolean {
    return id !== undefined && this.#busy.has(id)
  }

  keep(id: string, messages: readonly ConversationMessage[]): void {
    this.#kept.keep(id, messages)
  }
}
