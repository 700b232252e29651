/*
 * Everything that this package uses of Toolpost's models and of the sentences that are understood without one.
 */
import type { ConversationMessage, SentenceGraph } from 'toolpost/models'

export {
  type AiClient,
  type Answer,
  type CallNotice,
  type ConversationMessage,
  Conversations,
  type ModelError,
  type ModelErrorCode,
  type SentenceGraph,
  whyUnanswered,
} from 'toolpost/models'

/** What a sentence would do. */
export interface Meaning {
  /** `act` changes something, `tell` only reads, `ask` and `talk` call nothing; `nothing` was not understood. */
  kind: 'act' | 'tell' | 'ask' | 'talk' | 'nothing'
  /** Equal for sentences that mean the same; several calls are joined by ` + `. */
  key: string
  changes: boolean
  /** A fallback because no sentence fits: any question may be one for the notes. */
  isGuess?: boolean
}

/** The sentences that can be understood; toolpost's OfflineClient implements it. */
export interface Grammar {
  /** The same object as long as nothing has changed. */
  graph(): SentenceGraph
  /** What the last message would do, in the context of those before it. Calls nothing. */
  understand(messages: readonly ConversationMessage[]): Meaning
}

/** Decoys, greetings and questions back to the speaker call no tool. */
export function doesSomething({ kind }: Meaning): boolean {
  return kind === 'act' || kind === 'tell'
}
