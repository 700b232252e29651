import type { Ask, Clock, ToolExecutor } from 'toolpost'
import {
  type AiClient,
  type ConversationMessage,
  Conversations,
  type ModelError,
  whyUnanswered,
} from 'toolpost/models'
import { readData } from '../data.ts'
import { yesOrNo } from '../listening/yes-or-no.ts'
import type { ResponseMessage } from '../messages.ts'
import type { Mouth } from '../speech-out/mouth.ts'
import { TranscriberError } from '../speech-to-text/transcriber.ts'
import { ANSWER_WINDOW_MS } from './questions.ts'
import type { Turn } from './turn.ts'

interface AnsweringOptions {
  client: AiClient
  executor: ToolExecutor
  mouth: Mouth
  /** Asks the person in a conversation. */
  ask(conversation: string, ...question: Parameters<Ask>): ReturnType<Ask>
  clock: Clock
  signal: AbortSignal
  instructions?: string | undefined
  filler?: string | undefined
}

const { modelFailures } = readData<{ modelFailures: Readonly<Record<string, string>> }>('spoken-english.json')
export const CLOSED = 'the voice gateway was closed'
/** How many conversations are remembered, and how many messages each: small models read slowly. */
const KEPT_CONVERSATIONS = 50
const KEPT_MESSAGES = 40
/** How long one answer may take, calls included. */
const ANSWER_TIME_LIMIT_MS = 60_000
/** If an answer takes longer, a filler is spoken. */
const FILLER_AFTER_MS = 1_500
const NOTHING_SAID: readonly ConversationMessage[] = []
const INSTRUCTIONS =
  'You are the voice assistant of this home: what you write is spoken. Use the tools for what they can do or know, ' +
  'instead of guessing. What was said may be misheard. Answer in one short sentence, without lists or symbols.'

/** Asks the client, speaks its answer as it streams in, and remembers the conversation. */
export class Answering {
  readonly #options: AnsweringOptions
  readonly #history = new Conversations({ conversations: KEPT_CONVERSATIONS, messages: KEPT_MESSAGES })
  /** Until when a spoken yes or no replies to the question that an answer ended with ("Did you mean the demo switch?"). */
  readonly #replyUntil = new Map<string, number>()

  constructor(options: AnsweringOptions) {
    this.#options = options
  }

  /** The messages of a conversation so far; another object after every answer. */
  historyOf(conversation: string): readonly ConversationMessage[] {
    return this.#history.of(conversation) ?? NOTHING_SAID
  }

  /** An answer was spoken in full: if it was a question, its answer window begins. */
  spoken({ conversation, text }: ResponseMessage): void {
    this.#replyUntil.delete(conversation)
    if (!asksSomething(text)) return
    this.#replyUntil.set(conversation, this.#options.clock.now() + ANSWER_WINDOW_MS)
    const [oldest] = this.#replyUntil.keys()
    if (this.#replyUntil.size > KEPT_CONVERSATIONS && oldest !== undefined) this.#replyUntil.delete(oldest)
  }

  /** Answers a turn. A match is carried out as it was matched, unless the conversation has gone on since. */
  async answer(turn: Turn, match: object | undefined): Promise<ResponseMessage> {
    const { client, clock, executor, mouth, signal, ...texts } = this.#options
    const { instructions = INSTRUCTIONS, filler = 'One moment.' } = texts
    let streamed = ''
    const speak = (text: string) => {
      streamed += text
      mouth.add(text)
    }
    const slow = clock.setTimer(() => streamed.trim() === '' && mouth.fill(filler), FILLER_AFTER_MS)
    const history = this.historyOf(turn.conversation)
    const system: ConversationMessage = { role: 'system', content: instructions }
    const said = this.#isTooLate(turn) ? [] : history
    const asking = () =>
      client.ask([system, ...said, { role: 'user', content: turn.question }], {
        executor,
        signal,
        origin: 'voice',
        area: turn.utterance.area,
        meaning: turn.history === history ? match : undefined,
        timeLimitMs: ANSWER_TIME_LIMIT_MS,
        onToken: speak,
        ask: question => {
          slow.cancel()
          return this.#options.ask(turn.conversation, question)
        },
        onCall: event => {
          // What a model says before a call is a separate sentence.
          if (event.type === 'start') speak('\n')
          turn.note(event)
        },
      })
    try {
      const answer = await turn.timed('answerMs', asking)
      const text = answer.text.trim() || 'I have no answer to that.'
      const isForNobody = turn.utterance.overheard === true && answer.iterations === 0 && !asksSomething(text)
      if (!streamed.trim().endsWith(text) && !isForNobody) mouth.add(`\n${text}`)
      this.#history.keep(turn.conversation, answer.messages)
      const problem = whyUnanswered(answer)
      return turn.response(problem === undefined ? 'answered' : 'failed', text, problem)
    } catch (error) {
      return this.failed(turn, error)
    } finally {
      slow.cancel()
    }
  }

  /** The response to a turn that failed: one sentence for the person, the reason for the log. */
  failed(turn: Turn, error: unknown): ResponseMessage {
    if (this.#options.signal.aborted) return turn.response('failed', '', CLOSED)
    const sentence = failureSentence(error)
    this.#options.mouth.insist(sentence)
    return turn.response('failed', sentence, error instanceof Error ? error.message : String(error))
  }

  /** Whether it is a yes or no whose question has expired. */
  #isTooLate({ conversation, source, takenAt, question }: Turn): boolean {
    const isOver = takenAt > (this.#replyUntil.get(conversation) ?? Infinity)
    return isOver && source === 'audio' && yesOrNo(question) !== undefined
  }
}

function asksSomething(text: string): boolean {
  return text.trimEnd().endsWith('?')
}

/** What the person hears if there is no answer: one plain sentence. The log has the details. */
function failureSentence(error: unknown): string {
  if (error instanceof TranscriberError) return 'Sorry, I could not make out what you said.'
  // By name: the host program may have its own copy of Toolpost.
  if (!(error instanceof Error) || error.name !== 'ModelError')
    return 'Sorry, something went wrong on my side.'
  const { code, results } = error as ModelError
  const sentence = modelFailures[code] ?? 'The language model gave no usable answer.'
  return results?.some(result => result.success) ? `I did part of it. ${sentence}` : sentence
}
