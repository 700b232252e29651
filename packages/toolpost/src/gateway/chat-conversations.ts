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

  /** Reserves the conversation of that id, or a new one, until it is released. */
  place(id: string | undefined, prefix = ''): { id: string; release(): void } {
    const own = id ?? `${prefix}${randomUUID()}`
    return { id: own, release: this.#hold(own) }
  }

  forget(id: string): void {
    this.#kept.forget(id)
  }

  /** How many conversations are being answered. */
  get answering(): number {
    return this.#busy.size
  }

  /** Whether a conversation is being answered. */
  isBusy(id: string | undefined): boolean {
    return id !== undefined && this.#busy.has(id)
  }

  /** Marks a conversation as busy until the returned function is called. */
  #hold(id: string): () => void {
    this.#busy.add(id)
    return () => void this.#busy.delete(id)
  }

  keep(id: string, messages: readonly ConversationMessage[]): void {
    this.#kept.keep(id, messages)
  }
}
