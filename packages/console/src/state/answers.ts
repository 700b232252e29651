import { useMemo } from 'react'
import type { OpenQuestion } from 'toolpost/gateway'
import { answerQuestion, type QuestionAnswer } from '../api/gateway-api.ts'
import { ApiError } from '../api/http.ts'
import { messageOf } from '../text/message-of.ts'
import { oneLine } from '../text/visible-text.ts'
import { gateway } from './gateway.ts'
import { Store, useStore } from './store.ts'

/** What this page did about a question: sending the answer, answered, or the reason why it was not accepted. */
type Mark = 'sending' | 'answered' | { problem: string }

/** By question id. */
class Answers extends Store<{ marks: ReadonlyMap<string, Mark> }> {
  constructor() {
    super({ marks: new Map() })
  }

  /** Never rejects. */
  async send({ id }: OpenQuestion, answer: QuestionAnswer): Promise<void> {
    this.#mark(id, 'sending')
    try {
      await answerQuestion(id, answer)
      this.#mark(id, 'answered')
    } catch (error) {
      const isOver = error instanceof ApiError && error.status === 404
      const problem = `The answer was not accepted: ${oneLine(messageOf(error))}`
      this.#mark(id, isOver ? 'answered' : { problem })
    }
  }

  #mark(id: string, mark: Mark): void {
    const open = new Set(gateway.get().questions?.map(one => one.id))
    const others = [...this.get().marks].filter(([one]) => one !== id && open.has(one))
    this.update({ marks: new Map([...others, [id, mark]]) })
  }
}

export const answers = new Answers()

/** The questions still open, as far as this page knows. */
export function useOpenQuestions(): OpenQuestion[] {
  const questions = useStore(gateway, state => state.questions)
  const marks = useStore(answers, state => state.marks)
  return useMemo(() => (questions ?? []).filter(({ id }) => marks.get(id) !== 'answered'), [questions, marks])
}
