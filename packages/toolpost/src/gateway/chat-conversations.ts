import { randomUUID } from 'node:crypto'
import type { ConversationMessage } from '../models/ai-client.ts'
import { Conversations } from '../models/conversations.ts'
import { KEPT_CHARACTERS, KEPT_CONVERSATIONS, KEPT_MESSAGES } from './limits.ts'

/** The conversations of the chat: one question at a time is answered in each. */
export class ChatConversations {
  readonly #kept = new Conversations({
    conversations: KEPT_CONVERSATIONS,
    messages: KEPT_MESSAGES,
    characters: KEPT_CHARACTERS,
  })
  readonly #busy = new Set<string>()

  /** What was said in that conversation, word for word, while this process lives. */
  of(id: string): readonly ConversationMessage[] | undefined {
    return this.#kept.of(id)
  }

  /** The place of a question: the conversation of that id, or a new one, held until it is released. */
  place(id: string | undefined, prefix = ''): { id: string; release(): void } {
    const own = id ?? `${prefix}${randomUUID()}`
    return { id: own, release: this.#hold(own) }
  }

  forget(id: string): void {
    this.#kept.forget(id)
  }

  /** In how many an answer is being given. */
  get answering(): number {
    return this.#busy.size
  }

  /** Whether an answer is being given in it. */
  isBusy(id: string | undefined): boolean {
    return id !== undefined && this.#busy.has(id)
  }

  /** Nobody else may answer in it until the function that comes back is called. */
  #hold(id: string): () => void {
    this.#busy.add(id)
    return () => void this.#busy.delete(id)
  }

  keep(id: string, messages: readonly ConversationMessage[]): void {
    this.#kept.keep(id, messages)
  }
}
