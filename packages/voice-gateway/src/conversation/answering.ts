import type { Ask, Clock, ToolExecutor } from 'toolpost'
import {
  type AiClient,
  type Answer,
  type ConversationMessage,
  Conversations,
  whyUnanswered,
} from 'toolpost/models'
import type { ResponseMessage } from '../bus/voice-bus.ts'
import { AnswerWindows, asksSomething } from './answer-windows.ts'
import { failureSentence } from './failure-sentence.ts'
import { CLOSED, KEPT_CONVERSATIONS, KEPT_MESSAGES } from './limits.ts'
import type { Mouth } from './mouth.ts'
import type { Turn } from './turn.ts'

interface AnsweringOptions {
  client: AiClient
  executor: ToolExecutor
  mouth: Mouth
  /** Asks the person in a conversation. */
  ask(conversation: string, ...question: Parameters<Ask>): ReturnType<Ask>
  clock: Clock
  signal: AbortSignal
  instructions: string
  filler: string
  fillerAfterMs: number
  timeLimitMs: number
}

/** Asks the client, speaks its answer as it streams in, and remembers the conversation. */
export class Answering {
  readonly #options: AnsweringOptions
  readonly #history = new Conversations({ conversations: KEPT_CONVERSATIONS, messages: KEPT_MESSAGES })

  readonly #windows: AnswerWindows

  constructor(options: AnsweringOptions) {
    this.#options = options
    this.#windows = new AnswerWindows(options.clock)
  }

  /** The messages of a conversation so far. */
  historyOf(conversation: string): readonly ConversationMessage[] {
    return this.#history.of(conversation) ?? []
  }

  /** An answer was spoken in full: if it was a question, its answer window begins. */
  heard(response: ResponseMessage): void {
    this.#windows.heard(response)
  }

  /** Never rejects: a failure becomes a response. */
  async answer(turn: Turn): Promise<ResponseMessage> {
    const { clock, mouth, filler, fillerAfterMs } = this.#options
    let streamed = ''
    const speak = (text: string) => {
      streamed += text
      mouth.add(text)
    }
    const slow = clock.setTimer(() => streamed.trim() === '' && mouth.fill(filler), fillerAfterMs)
    const ask: Ask = question => {
      slow.cancel()
      return this.#options.ask(turn.conversation, question)
    }
    try {
      const answer = await turn.timed('answerMs', () => this.#ask(turn, speak, ask))
      return this.#finished(turn, answer, streamed)
    } catch (error) {
      return this.failed(turn, error)
    } finally {
      slow.cancel()
    }
  }

  /** The response to a turn that was not understood: the person is told why. */
  notUnderstood(turn: Turn, sentence: string): ResponseMessage {
    this.#options.mouth.add(sentence)
    return turn.response('failed', sentence, 'it was not understood')
  }

  /** The response to a turn that failed: one sentence for the person, the reason for the log. */
  failed(turn: Turn, error: unknown): ResponseMessage {
    if (this.#options.signal.aborted) return turn.response('failed', '', CLOSED)
    const sentence = failureSentence(error)
    this.#options.mouth.insist(sentence)
    return turn.response('failed', sentence, error instanceof Error ? error.message : String(error))
  }

  #finished(turn: Turn, answer: Answer, streamed: string): ResponseMessage {
    const text = answer.text.trim() || 'I have no answer to that.'
    const isForNobody = turn.utterance.overheard === true && answer.iterations === 0 && !asksSomething(text)
    if (!streamed.trim().endsWith(text) && !isForNobody) this.#options.mouth.add(`\n${text}`)
    this.#history.keep(turn.conversation, answer.messages)
    const problem = whyUnanswered(answer)
    return turn.response(problem === undefined ? 'answered' : 'failed', text, problem)
  }

  #ask(turn: Turn, speak: (text: string) => void, ask: Ask): Promise<Answer> {
    const { client, executor, instructions, signal, timeLimitMs } = this.#options
    const said = this.#windows.isTooLate(turn) ? [] : this.historyOf(turn.conversation)
    return client.ask(
      [{ role: 'system', content: instructions }, ...said, { role: 'user', content: turn.question }],
      {
        executor,
        origin: 'voice',
        ask,
        signal,
        timeLimitMs,
        onToken: speak,
        onCall: event => {
          // What a model says before a call is a separate sentence.
          if (event.type === 'start') speak('\n')
          turn.note(event)
        },
      },
    )
  }
}
