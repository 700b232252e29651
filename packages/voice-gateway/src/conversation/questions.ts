import type { Clock, Question, QuestionAnswer, Timer } from 'toolpost'
import { yesNoField } from 'toolpost/terminal'
import { yesOrNo } from '../listening/yes-or-no.ts'
import type { HeardTurn } from './hearing.ts'
import { ANSWER_WINDOW_MS, CLOSED } from './limits.ts'
import type { Mouth } from './mouth.ts'
import { isTooLong, needsScreen, spokenQuestion } from './spoken-question.ts'

interface QuestionsOptions {
  mouth: Mouth
  clock: Clock
  /** Called with the text of each question. */
  onQuestion(conversation: string, text: string): void
}

/** The outcome of a question; `undefined` if it was withdrawn or the gateway closed. */
type Reply = boolean | 'silence' | 'something else' | undefined

/**
 * Asks aloud: before something is done, and on behalf of a server if yes or no is enough. A yes or no said next in the
 * same conversation is the answer; anything else is a new request and ends the question.
 */
export class Questions {
  readonly #options: QuestionsOptions
  readonly #open = new Map<string, OpenQuestion>()
  #last: Promise<unknown> = Promise.resolve()

  constructor(options: QuestionsOptions) {
    this.#options = options
  }

  /** The open question in a conversation. */
  in(conversation: string): OpenQuestion | undefined {
    return this.#open.get(conversation)
  }

  /** One question at a time. Never rejects. */
  ask(conversation: string, question: Question): Promise<QuestionAnswer> {
    const answer = this.#last.then(() => this.#ask(conversation, question))
    this.#last = answer
    return answer
  }

  /** Asks whether that is what was meant. */
  async confirm(conversation: string, sentence: string): Promise<boolean> {
    const reply = this.#last.then(() => this.#put(conversation, sentence))
    this.#last = reply
    if ((await reply) === false) this.#options.mouth.insist('Okay.')
    return (await reply) === true
  }

  /** Ends all open questions. */
  close(): void {
    for (const question of this.#open.values()) question.end()
  }

  async #ask(conversation: string, question: Question): Promise<QuestionAnswer> {
    const { mouth } = this.#options
    if (isTooLong(question)) {
      mouth.insist('This is too long to read out. Allow it in the console first.')
      // Others can still decide.
      return { action: 'cancel' }
    }
    const form = question.url === undefined ? yesNoField(question.schema) : undefined
    if (!form) {
      mouth.insist(needsScreen(question))
      return { action: 'decline', reason: 'it needs a screen' }
    }
    const reply = await this.#put(conversation, `${spokenQuestion(question)} Say yes or no.`, question.signal)
    if (reply === 'silence') mouth.insist('I heard no answer, so nothing was done.')
    return answerOf(reply, form.field, question.signal)
  }

  async #put(conversation: string, words: string, signal?: AbortSignal): Promise<Reply> {
    if (signal?.aborted) return undefined
    const { mouth, clock, onQuestion } = this.#options
    const open = new OpenQuestion(clock)
    const end = () => open.end()
    this.#open.set(conversation, open)
    signal?.addEventListener('abort', end, { once: true })
    onQuestion(conversation, words)
    mouth.insist(words)
    void mouth.finish().then(() => open.listen())
    const reply = await open.reply
    signal?.removeEventListener('abort', end)
    this.#open.delete(conversation)
    // Skip the rest of a question that is already answered, but speak what follows.
    mouth.interrupt()
    mouth.resume()
    return reply
  }
}

const REASONS = { silence: 'nobody answered', 'something else': 'something else was said' }

/** For a field, no is as good an answer as yes. */
function answerOf(reply: Reply, field: string | undefined, signal?: AbortSignal): QuestionAnswer {
  if (reply === undefined)
    return signal?.aborted ? { action: 'cancel' } : { action: 'decline', reason: CLOSED }
  if (typeof reply === 'string') return { action: 'decline', reason: REASONS[reply] }
  if (field !== undefined) return { action: 'accept', content: { [field]: reply } }
  return { action: reply ? 'accept' : 'decline' }
}

/** A question waiting for the next utterance. */
export class OpenQuestion {
  readonly reply: Promise<Reply>
  readonly #clock: Clock
  #resolve: (reply: Reply) => void = () => {}
  #silence: Timer | undefined
  #hearing = 0
  #isOpen = true

  constructor(clock: Clock) {
    this.#clock = clock
    this.reply = new Promise(resolve => {
      this.#resolve = resolve
    })
  }

  /** From now on silence counts as an answer, unless somebody is being heard. */
  listen(): void {
    if (!this.#isOpen || this.#hearing > 0) return
    this.#silence?.cancel()
    this.#silence = this.#clock.setTimer(() => this.end('silence'), ANSWER_WINDOW_MS)
  }

  /** Whether what was heard was the answer. Noise is not, and leaves the question open. */
  async take(heard: Promise<HeardTurn>): Promise<boolean> {
    this.#silence?.cancel()
    this.#hearing++
    const result = await heard
    this.#hearing--
    if (!this.#isOpen || !('text' in result)) {
      this.listen()
      return false
    }
    const answer = yesOrNo(result.text)
    this.end(answer ?? 'something else')
    return answer !== undefined
  }

  end(reply?: Reply): void {
    this.#isOpen = false
    this.#silence?.cancel()
    this.#resolve(reply)
  }
}
