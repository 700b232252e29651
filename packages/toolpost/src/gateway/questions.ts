import { randomUUID } from 'node:crypto'
import { type Ask, answerProblem, isForm, type Question, type QuestionAnswer } from '../tools/caller.ts'
import { type Clock, systemClock } from '../util/clock.ts'
import { shortText } from '../util/text.ts'
import type { OpenQuestion } from './api-types.ts'
import { ELICITATION_MS, MAX_QUESTION_CHARACTERS, MAX_QUESTIONS_OF_ONE } from './limits.ts'

interface Entry {
  shown: OpenQuestion
  settle(answer: QuestionAnswer): void
}

/** The call that asks. */
type Asked = Pick<OpenQuestion, 'tool'> & { caller: string | undefined }

/** Questions from tools to their callers over HTTP, until answered or no longer needed. */
export class Questions {
  readonly #clock: Clock
  readonly #entries = new Map<string, Entry>()
  #onChange = () => {}

  constructor(clock: Clock = systemClock) {
    this.#clock = clock
  }

  /** Calls `listener` whenever the open questions change; returns a function that stops it. */
  onChange(listener: () => void): () => void {
    this.#onChange = listener
    return () => {
      this.#onChange = () => {}
    }
  }

  /** The open questions, oldest first. */
  list(): OpenQuestion[] {
    return [...this.#entries.values()].map(({ shown }) => shown)
  }

  /** How a call's tools ask its caller. Approvals have their own list, which others may decide too. */
  askFor(asked: Asked): Ask {
    return async question => {
      if (question.about || question.signal?.aborted) return { action: 'cancel' }
      if (this.list().filter(({ caller }) => caller === asked.caller).length >= MAX_QUESTIONS_OF_ONE)
        return { action: 'decline', reason: 'too many questions are open' }
      if (question.schema && !isForm(question.schema))
        return { action: 'decline', reason: 'its form is too large' }
      return this.#ask(question, asked)
    }
  }

  /** Answers a question; resolves to what is wrong with the answer, if anything. */
  async answer(id: string, { action, content = {} }: QuestionAnswer): Promise<string | undefined> {
    const entry = this.#entries.get(id)
    const { schema } = entry?.shown ?? {}
    const isForm = action === 'accept' && schema
    const known = Object.keys(schema?.properties ?? {})
    const filled = Object.fromEntries(Object.entries(content).filter(([name]) => known.includes(name)))
    const problem = isForm ? await answerProblem(schema, filled) : undefined
    if (!problem) entry?.settle({ action, ...(isForm && { content: filled }) })
    return problem
  }

  /** Cancels all open questions. */
  close(): void {
    for (const { settle } of [...this.#entries.values()]) settle({ action: 'cancel' })
  }

  #ask(question: Question, { tool, caller }: Asked): Promise<QuestionAnswer> {
    const { message, server, schema, url, secretFields, signal } = question
    const askedAt = Date.now()
    const shown: OpenQuestion = {
      id: randomUUID(),
      message: shortText(message, MAX_QUESTION_CHARACTERS),
      ...(server !== undefined && { server }),
      ...(tool !== undefined && { tool }),
      ...(caller !== undefined && { caller }),
      ...(schema && { schema }),
      ...(url !== undefined && { url }),
      ...(secretFields?.length && { secretFields }),
      askedAt,
      expiresAt: askedAt + ELICITATION_MS,
    }
    return new Promise(resolve => {
      const settle = (answer: QuestionAnswer) => {
        if (!this.#entries.delete(shown.id)) return
        timer.cancel()
        signal?.removeEventListener('abort', giveUp)
        this.#onChange()
        resolve(answer)
      }
      const giveUp = () => settle({ action: 'cancel' })
      const timer = this.#clock.setTimer(giveUp, ELICITATION_MS)
      timer.hold(false)
      this.#entries.set(shown.id, { shown, settle })
      signal?.addEventListener('abort', giveUp, { once: true })
      // Completed on the page to visit.
      void question.completed?.then(() => settle({ action: 'accept' }))
      this.#onChange()
    })
  }
}
