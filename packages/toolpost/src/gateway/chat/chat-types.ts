import type { ChatCall, ChatEnd } from '../api-types.ts'

/** An answer is text and calls, in the order they arrived. */
export type AnswerPart = { kind: 'text'; text: string } | { kind: 'call'; call: ChatCall }

/** A question and its answer. Plain data, without secrets. */
export interface ChatTurn {
  question: string
  /** Milliseconds since 1970. */
  askedAt: number
  parts: AnswerPart[]
  /** How the answer ended, with its model, duration and tokens. */
  end: Omit<ChatEnd, 'text' | 'conversation'>
}

/** A conversation as `GET /api/conversations` lists it. */
export interface ConversationInfo {
  id: string
  /** Its given name, or else its first question. */
  name: string
  /** Milliseconds since 1970. */
  createdAt: number
  updatedAt: number
  turns: number
}

/** A conversation with all its turns. */
export interface ConversationRecord extends Omit<ConversationInfo, 'turns'> {
  turns: ChatTurn[]
}
