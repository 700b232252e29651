import { randomUUID } from 'node:crypto'
import { type Clock, systemClock } from '../runtime/clock.ts'
import { Listeners } from '../runtime/listeners.ts'
import { shortText } from '../runtime/short-text.ts'
import { answerProblem, isForm } from '../schema/answer-problem.ts'
import type { Answer, Ask, Question } from '../tools/caller.ts'
import type { OpenQuestion } from './api-types.ts'
import { ELICITATION_MS, MAX_QUESTION_CHARACTERS, MAX_QUESTIONS, MAX_QUESTIONS_OF_ONE } from './limits.ts'

interface Entry {
  shown: OpenQuestion
  settle(answer: Answer): void
}

/** Whose call it is that asks. */
interface Asked {
  tool?: string | undefined
  caller: string | undefined
}

/** Questions of tools to those who made a call over HTTP, until they are answered, or nobody needs that any more. */
export class Questions {
  readonly #clock: Clock
  readonly #entries = new Map<string, Entry>()
  readonly #listeners = new Listeners<{ change: undefined }>(() => {})

  constructor({ clock = systemClock }: { clock?: Clock | undefined } = {}) {
    this.#clock = clock
  }

  /** Calls `listener` whenever what waits has changed; returns a function that stops it. */
  onChange(listener: () => void): () => void {
    return this.#listeners.on('change', listener)
  }

  /** What waits for an answer, oldest first. */
  list(): OpenQuestion[] {
    return [...this.#entries.values()].map(({ shown }) => shown)
  }

  /** How the tools of a call ask whoever made it. Approvals have a list of their own, which others decide on too. */
  askFor(asked: Asked): Ask {
    return async question => {
      if (question.about || question.signal?.aborted) return { action: 'cancel' }
      if (this.#isFull(asked)) return { action: 'decline', reason: 'too many questions are open' }
      if (question.schema && !isForm(question.schema))
        return { action: 'decline', reason: 'its form is too large' }
      return this.#ask(question, asked)
    }
  }

  /** What is wrong with an answer; nothing if the question is answered by it. */
  async answer(id: string, { action, content }: Answer): Promise<string | undefined> {
    const entry = this.#entries.get(id)
    const { schema } = entry?.shown ?? {}
    if (action !== 'accept' || !schema) {
      entry?.settle({ action })
      return undefined
    }
    const known = Object.keys(schema.properties ?? {})
    const given = Object.entries(content ?? {}).filter(([name]) => known.includes(name))
    const filled = Object.fromEntries(given)
    const problem = await answerProblem(schema, filled)
    if (problem === undefined) entry?.settle({ action, content: filled })
    return problem
  }

  /** Nobody can answer any more. */
  close(): void {
    for (const { settle } of [...this.#entries.values()]) settle({ action: 'cancel' })
  }

  #isFull({ caller }: Asked): boolean {
    const own = this.list().filter(other => other.caller === caller)
    return this.#entries.size >= MAX_QUESTIONS || own.length >= MAX_QUESTIONS_OF_ONE
  }

  #ask(question: Question, asked: Asked): Promise<Answer> {
    const onChange = () => this.#listeners.tell('change', undefined)
    const shown = shownQuestion(question, asked)
    return new Promise(resolve => {
      const settle = (answer: Answer) => {
        if (!this.#entries.delete(shown.id)) return
        timer.cancel()
        question.signal?.removeEventListener('abort', giveUp)
        onChange()
        resolve(answer)
      }
      const giveUp = () => settle({ action: 'cancel' })
      const timer = this.#clock.setTimer(giveUp, ELICITATION_MS)
      timer.hold(false)
      this.#entries.set(shown.id, { shown, settle })
      question.signal?.addEventListener('abort', giveUp, { once: true })
      // Whoever was asked did it elsewhere.
      void question.completed?.then(() => settle({ action: 'accept' }))
      onChange()
    })
  }
}

function shownQuestion(question: Question, { tool, caller }: Asked): OpenQuestion {
  const { server, message, schema, url, secretFields } = question
  const askedAt = Date.now()
  return {
    id: randomUUID(),
    message: shortText(message, MAX_QUESTION_CHARACTERS),
    ...(server !== undefined && { server }),
    ...(tool !== undefined && { tool }),
    ...(caller !== undefined && { caller }),
    ...(schema && { schema }),
    ...(url !== undefined && { url }),
    ...(secretFields && secretFields.length > 0 && { secretFields }),
    askedAt,
    expiresAt: askedAt + ELICITATION_MS,
  }
}
