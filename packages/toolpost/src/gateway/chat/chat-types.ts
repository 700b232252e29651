import type { ChatCall, ChatEnd } from '../api-types.ts'

/** An answer is text and calls, in the order in which they came. */
export type AnswerPart = { kind: 'text'; text: string } | { kind: 'call'; call: ChatCall }

/** A question and what became of it. Plain data, without secrets. */
export interface ChatTurn {
  question: string
  /** Milliseconds since 1970. */
  askedAt: number
  parts: AnswerPart[]
  /** How the answer ended, with its model, its time and its tokens. */
  end: Omit<ChatEnd, 'text' | 'conversation'>
}

/** A conversation as `GET /api/conversations` lists it. */
export interface ConversationInfo {
  id: string
  /** What somebody called it, or else its first question. */
  name: string
  /** Milliseconds since 1970. */
  createdAt: number
  updatedAt: number
  turns: number
}

/** One with everything that was said. */
export interface ConversationRecord extends Omit<ConversationInfo, 'turns'> {
  turns: ChatTurn[]
}
