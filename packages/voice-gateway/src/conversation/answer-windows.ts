import type { Clock } from 'toolpost'
import type { ResponseMessage } from '../bus/voice-bus.ts'
import { ANSWER_WINDOW_MS, KEPT_CONVERSATIONS } from './limits.ts'
import { yesOrNo } from './spoken-question.ts'
import type { Turn } from './turn.ts'

/** Until when a spoken yes or no replies to the question that an answer ended with ("Did you mean the demo switch?"). */
export class AnswerWindows {
  readonly #clock: Clock
  readonly #until = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** An answer has been spoken. */
  heard({ conversation, text }: ResponseMessage): void {
    this.#until.delete(conversation)
    if (!asksSomething(text)) return
    this.#until.set(conversation, this.#clock.now() + ANSWER_WINDOW_MS)
    const [oldest] = this.#until.keys()
    if (this.#until.size > KEPT_CONVERSATIONS && oldest !== undefined) this.#until.delete(oldest)
  }

  /** Whether it is a yes or no whose question has expired. */
  isTooLate({ conversation, source, takenAt, question }: Turn): boolean {
    const isOver = takenAt > (this.#until.get(conversation) ?? Infinity)
    return isOver && source === 'audio' && yesOrNo(question) !== undefined
  }
}

export function asksSomething(text: string): boolean {
  return text.trimEnd().endsWith('?')
}
