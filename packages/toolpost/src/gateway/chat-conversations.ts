import { randomUUID } from 'node:crypto'
import type { ConversationMessage } from '../models/ai-client.ts'
import { Conversations } from '../models/conversations.ts'
import { KEPT_CONVERSATIONS, KEPT_MESSAGES } from './limits.ts'

/** The conversations of the chat: each is answered in by one at a time. */
export class ChatConversations {
  readonly #kept = new Conversations({ conversations: KEPT_CONVERSATIONS, messages: KEPT_MESSAGES })
  readonly #busy = new Set<string>()

  /** The conversation of that id, or a new one where it is not known. */
  open(id: string | undefined): { id: string; messages: readonly ConversationMessage[] } {
    const messages = id === undefined ? undefined : this.#kept.of(id)
    return messages && id !== undefined ? { id, messages } : { id: randomUUID(), messages: [] }
  }

  /** Whether an answer is being given in it. */
  isBusy(id: string | undefined): boolean {
    return id !== undefined && this.#busy.has(id)
  }

  /** Nobody else may answer in it until the function that comes back is called. */
  hold(id: string): () => void {
    this.#busy.add(id)
    return () => void this.#busy.delete(id)
  }

  keep(id: string, messages: readonly ConversationMessage[]): void {
    this.#kept.keep(id, messages)
  }
}
