import type { Answer, Clock, Question, Timer } from 'toolpost'
import { yesNoField } from 'toolpost-common/question-fields'
import type { Heard } from './ears.ts'
import { CLOSED, SILENCE_MS } from './limits.ts'
import type { Mouth } from './mouth.ts'
import { needsScreen, spokenQuestion, yesOrNo } from './spoken-question.ts'

interface QuestionsOptions {
  mouth: Mouth
  clock: Clock
  /** Told what is asked, for those who read. */
  onQuestion(conversation: string, text: string): void
}

/** Asks aloud: before something is done, and what a server wants to know if yes or no is enough. What is said next in the same conversation is the answer, and nothing else. */
export class Questions {
  readonly #options: QuestionsOptions
  readonly #open = new Map<string, OpenQuestion>()
  #last: Promise<unknown> = Promise.resolve()

  constructor(options: QuestionsOptions) {
    this.#options = options
  }

  /** The question that waits for an answer in a conversation. */
  in(conversation: string): OpenQuestion | undefined {
    return this.#open.get(conversation)
  }

  /** One question at a time. Never rejects. */
  ask(conversation: string, question: Question): Promise<Answer> {
    const answer = this.#last.then(() => this.#ask(conversation, question))
    this.#last = answer
    return answer
  }

  /** Nobody can answer any more. */
  close(): void {
    for (const question of this.#open.values()) question.end()
  }

  async #ask(conversation: string, question: Question): Promise<Answer> {
    const { mouth } = this.#options
    const form = question.url === undefined ? yesNoField(question.schema) : undefined
    if (!form) {
      mouth.insist(needsScreen(question))
      return { action: 'decline', reason: 'it needs a screen' }
    }
    const sentence = spokenQuestion(question)
    for (const words of [`${sentence} Say yes or no.`, `Please say yes or no. ${sentence}`]) {
      const said = await this.#put(conversation, words, question.signal)
      if (said === undefined && question.signal?.aborted) return { action: 'cancel' }
      if (said === undefined) return { action: 'decline', reason: CLOSED }
      if (said === '') {
        mouth.insist('I heard no answer, so nothing was done.')
        return { action: 'decline', reason: 'nobody answered' }
      }
      const isYes = yesOrNo(said)
      // To a field, no is an answer like yes.
      if (isYes !== undefined && form.field !== undefined)
        return { action: 'accept', content: { [form.field]: isYes } }
      if (isYes !== undefined) return { action: isYes ? 'accept' : 'decline' }
    }
    mouth.insist('That was neither yes nor no, so nothing was done.')
    return { action: 'decline', reason: 'the answer was neither yes nor no' }
  }

  /** What was said: nothing (`''`) after a while of silence, `undefined` if nobody needs the answer, or can give it any more. */
  async #put(conversation: string, words: string, signal?: AbortSignal): Promise<string | undefined> {
    if (signal?.aborted) return undefined
    const { mouth, clock, onQuestion } = this.#options
    const open = new OpenQuestion(clock)
    const end = () => open.end()
    this.#open.set(conversation, open)
    signal?.addEventListener('abort', end, { once: true })
    onQuestion(conversation, words)
    mouth.insist(words)
    void mouth.finish().then(() => open.listen())
    const said = await open.answer
    signal?.removeEventListener('abort', end)
    this.#open.delete(conversation)
    // The rest of a question that is answered already; what comes then is to be heard.
    mouth.interrupt()
    mouth.resume()
    return said
  }
}

/** A question that waits for what is said next. */
export class OpenQuestion {
  readonly answer: Promise<string | undefined>
  readonly #clock: Clock
  #resolve: (said: string | undefined) => void = () => {}
  #silence: Timer | undefined
  #hearing = 0
  #isOpen = true

  constructor(clock: Clock) {
    this.#clock = clock
    this.answer = new Promise(resolve => {
      this.#resolve = resolve
    })
  }

  /** From now on silence is an answer too, unless somebody is being heard. */
  listen(): void {
    if (!this.#isOpen || this.#hearing > 0) return
    this.#silence?.cancel()
    this.#silence = this.#clock.setTimer(() => this.end(''), SILENCE_MS)
  }

  /** Whether what was heard was the answer. Noise is none. */
  async take(heard: Promise<Heard>): Promise<boolean> {
    this.#silence?.cancel()
    this.#hearing++
    const result = await heard
    this.#hearing--
    const isAnswer = this.#isOpen && 'text' in result
    if (isAnswer) this.end(result.text)
    else this.listen()
    return isAnswer
  }

  end(said?: string): void {
    this.#isOpen = false
    this.#silence?.cancel()
    this.#resolve(said)
  }
}
