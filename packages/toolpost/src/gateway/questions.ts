import { randomUUID } from 'node:crypto'
import { type Ask, answerProblem, isForm, type Question, type QuestionAnswer } from '../tools/caller.ts'
import { type Clock, systemClock } from '../util/clock.ts'
import { shortText } from '../util/text.ts'
import type { OpenQuestion } from './api-types.ts'
import { ELICITATION_MS, MAX_QUESTION_CHARACTERS, MAX_QUESTIONS_OF_ONE } from './limits.ts'

/** The call that asks. */
type Asked = Pick<OpenQuestion, 'tool'> & { caller: string | undefined }

/** Questions from tools to their callers over HTTP, until answered or no longer needed. */
export class Questions {
  readonly #clock: Clock
  /** The oldest first. */
  readonly #open = new Map<string, { shown: OpenQuestion; settle(answer: QuestionAnswer): void }>()
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

  list(): OpenQuestion[] {
    return [...this.#open.values()].map(({ shown }) => shown)
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
    const { shown, settle } = this.#open.get(id) ?? {}
    const schema = action === 'accept' ? shown?.schema : undefined
    const known = Object.keys(schema?.properties ?? {})
    const filled = Object.fromEntries(Object.entries(content).filter(([name]) => known.includes(name)))
    const problem = schema && (await answerProblem(schema, filled))
    if (!problem) settle?.({ action, ...(schema && { content: filled }) })
    return problem
  }

  /** Cancels all open questions. */
  close(): void {
    for (const { settle } of [...this.#open.values()]) settle({ action: 'cancel' })
  }

  #ask(question: Question, { tool, caller }: Asked): Promise<QuestionAnswer> {
    const { message, server, schema, url, secretFields, signal, completed } = question
    const askedAt = Date.now()
    const shown = {
      id: randomUUID(),
      message: shortText(message, MAX_QUESTION_CHARACTERS),
      ...(secretFields?.length && { secretFields }),
      askedAt,
      expiresAt: askedAt + ELICITATION_MS,
      // What is undefined is left out as JSON.
      ...({ server, tool, caller, schema, url } as object),
    }
    return new Promise(resolve => {
      const settle = (answer: QuestionAnswer) => {
        if (!this.#open.delete(shown.id)) return
        timer.cancel()
        signal?.removeEventListener('abort', giveUp)
        this.#onChange()
        resolve(answer)
      }
      const giveUp = () => settle({ action: 'cancel' })
      const timer = this.#clock.setTimer(giveUp, ELICITATION_MS)
      timer.hold(false)
      this.#open.set(shown.id, { shown, settle })
      signal?.addEventListener('abort', giveUp, { once: true })
      // Completed on the page to visit.
      void completed?.then(() => settle({ action: 'accept' }))
      this.#onChange()
    })
  }
}
