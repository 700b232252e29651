import type { ConversationMessage } from './ai-client.ts'

export interface ConversationsOptions {
  /** How many conversations are kept. */
  conversations: number
  /** How many messages each may have. */
  messages: number
  /** How many characters each may have, arguments included; 200,000 if left out. */
  characters?: number | undefined
}

const MAX_CHARACTERS = 200_000

/** Conversations kept in memory; the least recently used one is evicted first. */
export class Conversations {
  readonly #kept = new Map<string, readonly ConversationMessage[]>()
  readonly #limits: ConversationsOptions

  constructor(limits: ConversationsOptions) {
    this.#limits = limits
  }

  /** The messages of a conversation; `undefined` if it is unknown. */
  of(id: string): readonly ConversationMessage[] | undefined {
    return this.#kept.get(id)
  }

  forget(id: string): void {
    this.#kept.delete(id)
  }

  /** Stores a conversation after an answer, without its system messages. */
  keep(id: string, messages: readonly ConversationMessage[]): void {
    this.#kept.delete(id)
    const said = messages.filter(message => roleOf(message) !== 'system').map(withoutImages)
    this.#kept.set(id, shortened(said, this.#limits))
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= this.#limits.conversations) return
      this.#kept.delete(oldest)
    }
  }
}

/** Drops the beginning if it is too long, but never cuts between a question and what belongs to it. */
function shortened(
  messages: readonly ConversationMessage[],
  { messages: limit, characters = MAX_CHARACTERS }: ConversationsOptions,
): readonly ConversationMessage[] {
  let room = characters
  let start = messages.length
  for (let at = messages.length - 1; at >= 0 && at >= messages.length - limit; at--) {
    const message = messages[at] as ConversationMessage
    room -= lengthOf(message)
    if (room < 0) break
    if (at === 0 || roleOf(message) === 'user') start = at
  }
  return messages.slice(start)
}

/** The images of results are for the question they belong to: kept in every conversation, they would fill the memory. */
function withoutImages(message: ConversationMessage): ConversationMessage {
  if (!(message as { artifact?: unknown }).artifact) return message
  return Object.assign(Object.create(Object.getPrototypeOf(message)), message, { artifact: undefined })
}

function lengthOf(message: ConversationMessage): number {
  const { content, tool_calls } = message as { content: unknown; tool_calls?: unknown }
  return JSON.stringify([content, tool_calls]).length
}

export function roleOf(message: ConversationMessage): string {
  if (!('getType' in message)) return message.role
  const type = message.getType()
  return type === 'human' ? 'user' : type === 'ai' ? 'assistant' : type
}
