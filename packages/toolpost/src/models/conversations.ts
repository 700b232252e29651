import type { ConversationMessage } from './ai-client.ts'

export interface ConversationsOptions {
  /** How many conversations are kept. */
  conversations: number
  /** How many messages each may have. */
  messages: number
  /** How long each may grow in characters, arguments included; 200,000 if left out. */
  characters?: number | undefined
}

const MAX_CHARACTERS = 200_000

/** What was said in each conversation, in memory: the one that was used least recently goes first. */
export class Conversations {
  readonly #kept = new Map<string, readonly ConversationMessage[]>()
  readonly #limits: ConversationsOptions

  constructor(limits: ConversationsOptions) {
    this.#limits = limits
  }

  /** What was said in that conversation; `undefined` if it is unknown. */
  of(id: string): readonly ConversationMessage[] | undefined {
    return this.#kept.get(id)
  }

  forget(id: string): void {
    this.#kept.delete(id)
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
  { messages: limit, characters = MAX_CHARACTERS }: ConversationsOptions,
): readonly ConversationMessage[] {
  let room = characters
  let start = messages.length
  for (let at = messages.length - 1; at >= 0 && at >= messages.length - limit; at--) {
    const message = messages[at] as ConversationMessage
    room -= lengthOf(message)
    if (room < 0) break
    if (at === 0 || isQuestion(message)) start = at
  }
  return messages.slice(start)
}

function lengthOf(message: ConversationMessage): number {
  const { content, tool_calls } = message as { content: unknown; tool_calls?: unknown }
  return JSON.stringify([content, tool_calls]).length
}

function isQuestion(message: ConversationMessage): boolean {
  return 'getType' in message ? message.getType() === 'human' : message.role === 'user'
}

function isInstruction(message: ConversationMessage): boolean {
  return 'getType' in message ? message.getType() === 'system' : message.role === 'system'
}
