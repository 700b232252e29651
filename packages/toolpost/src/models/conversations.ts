import type { ConversationMessage } from './ai-client.ts'

export interface ConversationsOptions {
  /** How many conversations are kept. */
  conversations: number
  /** How many messages each may have. */
  messages: number
  /** How many characters each may have. */
  characters?: number
}

/** What was said in each conversation, in memory: the least recently used goes first. */
export class Conversations {
  readonly #kept = new Map<string, readonly ConversationMessage[]>()
  readonly #limits: ConversationsOptions

  constructor(limits: ConversationsOptions) {
    this.#limits = limits
  }

  /** What was said in that conversation; `undefined` if it is not known. */
  of(id: string): readonly ConversationMessage[] | undefined {
    return this.#kept.get(id)
  }

  /** Remembers a conversation as an answer ends it, without the instructions. */
  keep(id: string, messages: readonly ConversationMessage[]): void {
    this.#kept.delete(id)
    const said = messages.filter(message => !isInstruction(message))
    this.#kept.set(id, shortened(said, this.#limits))
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= this.#limits.conversations) return
      this.#kept.delete(oldest)
    }
  }
}

/** Without its beginning if it is too long; never between a question and what belongs to it. */
function shortened(
  messages: readonly ConversationMessage[],
  { messages: limit, characters = Number.POSITIVE_INFINITY }: ConversationsOptions,
): readonly ConversationMessage[] {
  let left = characters
  const last = messages.findLastIndex((message, at) => {
    left -= lengthOf(message)
    return left < 0 || messages.length - at > limit
  })
  if (last < 0) return messages
  const start = messages.findIndex((message, at) => at > last && isQuestion(message))
  return start < 0 ? [] : messages.slice(start)
}

function lengthOf({ content }: ConversationMessage): number {
  return typeof content === 'string' ? content.length : JSON.stringify(content).length
}

function isQuestion(message: ConversationMessage): boolean {
  return 'getType' in message ? message.getType() === 'human' : message.role === 'user'
}

function isInstruction(message: ConversationMessage): boolean {
  return 'getType' in message ? message.getType() === 'system' : message.role === 'system'
}
