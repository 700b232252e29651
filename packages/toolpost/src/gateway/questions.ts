import { randomUUID } from 'node:crypto'
import { type Ask, answerProblem, isForm, type Question, type QuestionAnswer } from '../tools/caller.ts'
import { unlessAborted } from '../util/clock.ts'
import { shortText } from '../util/text.ts'
import type { OpenQuestion } from './api-types.ts'
import { preferenceOf, type RequestContext } from './http.ts'
import { ELICITATION_MS, MAX_QUESTION_CHARACTERS, MAX_QUESTIONS_OF_ONE } from './limits.ts'

/** Questions from tools to their callers over HTTP, until answered or no longer needed. */
export class Questions {
  /** The oldest first. */
  readonly #open = new Map<string, { shown: OpenQuestion; settle(answer: QuestionAnswer): void }>()
  /** Called whenever the open questions change. */
  onChange = () => {}

  list(): OpenQuestion[] {
    return [...this.#open.values()].map(({ shown }) => shown)
  }

  /** How the tools of a request's calls ask its caller, who has to watch for questions and says so. */
  askIn(c: RequestContext, tool?: string): Ask | undefined {
    if (preferenceOf(c, 'questions') === undefined) return undefined
    const { caller } = c.env.client
    return question => this.#ask(question, { tool, caller })
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

  async #ask(question: Question, asked: Pick<OpenQuestion, 'tool' | 'caller'>): Promise<QuestionAnswer> {
    const { about, message, server, schema, url, secretFields, signal } = question
    // Approvals have their own list, which others may decide too.
    if (about || signal?.aborted) return { action: 'cancel' }
    if (this.list().filter(({ caller }) => caller === asked.caller).length >= MAX_QUESTIONS_OF_ONE)
      return { action: 'decline', reason: 'too many questions are open' }
    if (schema && !isForm(schema)) return { action: 'decline', reason: 'its form is too large' }
    const askedAt = Date.now()
    const shown = {
      id: randomUUID(),
      message: shortText(message, MAX_QUESTION_CHARACTERS),
      server,
      ...asked,
      schema,
      url,
      secretFields: secretFields?.length ? secretFields : undefined,
      askedAt,
      expiresAt: askedAt + ELICITATION_MS,
    }
    const answered = new Promise<QuestionAnswer>(settle => this.#open.set(shown.id, { shown, settle }))
    this.onChange()
    const ends = [AbortSignal.timeout(ELICITATION_MS), ...(signal ? [signal] : [])]
    try {
      return await unlessAborted(answered, AbortSignal.any(ends))
    } catch {
      return { action: 'cancel' }
    } finally {
      this.#open.delete(shown.id)
      this.onChange()
    }
  }
}
