import type { ConversationMessage, SentenceGraph } from 'toolpost/models'

/** What a sentence would do. */
export interface Meaning {
  /** `act` changes something, `tell` only reads, `ask` and `talk` call nothing; `nothing` was not understood. */
  kind: 'act' | 'tell' | 'ask' | 'talk' | 'nothing'
  /** Equal for sentences that mean the same; several calls are joined by ` + `. */
  key: string
  changes: boolean
  /** It is only what is left if no sentence fits: any question may be one to the notes. */
  isGuess?: boolean
}

/** The sentences that can be understood; toolpost's OfflineClient is one. */
export interface Grammar {
  /** The same object while nothing has changed. */
  graph(): SentenceGraph
  /** What the last message would do after those before it. Calls nothing. */
  understand(messages: readonly ConversationMessage[]): Meaning
  /** Names that can be typed and not be heard, if nobody else can make them out. */
  unspeakable?(): readonly string[]
}
