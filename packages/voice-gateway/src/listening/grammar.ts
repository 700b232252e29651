import type { ConversationMessage, SentenceGraph } from 'toolpost/models'

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
  /** Names that can be typed but not recognized in speech, if no model could make them out. */
  unspeakable?(): readonly string[]
}
