import type { ConversationMessage } from './ai-client.ts'

export interface ConversationsOptions {
  /** How many conversations are kept. */
  conversations: number
  /** How long each may grow. */
  messages: number
}

/** What was said in each conversation, in memory: the one that was used least recently goes first. */
export class Conversations {
  readonly #kept = new Map<string, readonly ConversationMessage[]>()
  readonly #limits: ConversationsOptions

  constructor(limits: ConversationsOptions) {
    this.#limits = limits
  }

  /** What was said in that conversation; `undefined` where it is not known. */
  of(id: string): readonly ConversationMessage[] | undefined {
    return this.#kept.get(id)
  }

  /** Remembers a conversation as an answer ends it, without the instructions. */
  keep(id: string, messages: readonly ConversationMessage[]): void {
    this.#kept.delete(id)
    const said = messages.filter(message => !isInstruction(message))
    this.#kept.set(id, shortened(said, this.#limits.messages))
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= this.#limits.conversations) return
      this.#kept.delete(oldest)
    }
  }
}

/** Without its beginning where it is too long; never between a question and what belongs to it. */
function shortened(messages: readonly ConversationMessage[], limit: number): readonly ConversationMessage[] {
  if (messages.length <= limit) return messages
  const start = messages.findIndex((message, at) => at >= messages.length - limit && isQuestion(message))
  return start < 0 ? [] : messages.slice(start)
}

function isQuestion(message: ConversationMessage): boolean {
  return 'getType' in message ? message.getType() === 'human' : message.role === 'user'
}

function isInstruction(message: ConversationMessage): boolean {
  return 'getType' in message ? message.getType() === 'system' : message.role === 'system'
}
