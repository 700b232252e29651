import { randomUUID } from 'node:crypto'
import type { ConversationMessage } from '../models/ai-client.ts'
import { KEPT_CONVERSATIONS, KEPT_MESSAGES } from './limits.ts'

/** The conversations of the chat, in memory: the one that was used least recently goes first. */
export class Conversations {
  readonly #kept = new Map<string, readonly ConversationMessage[]>()
  readonly #busy = new Set<string>()

  /** The conversation of that id, or a new one where it is not known. */
  open(id: string | undefined): { id: string; messages: readonly ConversationMessage[] } {
    const messages = id === undefined ? undefined : this.#kept.get(id)
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
    this.#kept.delete(id)
    this.#kept.set(id, shortened(messages.filter(message => !isInstruction(message))))
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= KEPT_CONVERSATIONS) return
      this.#kept.delete(oldest)
    }
  }
}

/** Without its beginning where it is too long; never between a question and what belongs to it. */
function shortened(messages: readonly ConversationMessage[]): readonly ConversationMessage[] {
  if (messages.length <= KEPT_MESSAGES) return messages
  const start = messages.findIndex(
    (message, at) => at >= messages.length - KEPT_MESSAGES && isQuestion(message),
  )
  return start < 0 ? [] : messages.slice(start)
}

function isQuestion(message: ConversationMessage): boolean {
  return 'getType' in message ? message.getType() === 'human' : message.role === 'user'
}

function isInstruction(message: ConversationMessage): boolean {
  return 'getType' in message ? message.getType() === 'system' : message.role === 'system'
}
