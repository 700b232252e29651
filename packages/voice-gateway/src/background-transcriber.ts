import { type Clock, type Logger, silentLogger, systemClock, type ToolExecutor } from 'toolpost'
import { type AiClient, type Answer, Conversations, whyUnanswered } from 'toolpost/models'
import type { ResponseMessage, VoiceBus } from './bus/voice-bus.ts'
import { failureSentence } from './conversation/failure-sentence.ts'
import {
  ANSWER_TIME_LIMIT_MS,
  DRAIN_MS,
  FILLER,
  FILLER_AFTER_MS,
  KEPT_CONVERSATIONS,
  KEPT_MESSAGES,
  QUEUE_LIMIT,
} from './conversation/limits.ts'
import { Mouth } from './conversation/mouth.ts'
import { Turn } from './conversation/turn.ts'
import { understand } from './conversation/understand.ts'
import type { Speaker } from './speech-out/speaker.ts'
import type { SpokenAnswer } from './speech-out/spoken-answer.ts'
import type { Transcriber } from './speech-to-text/transcriber.ts'
import type { Utterance } from './utterance.ts'

export interface BackgroundTranscriberOptions {
  transcriber: Transcriber
  client: AiClient
  /** Runs every call; the transcriber has no tools of its own. */
  executor: ToolExecutor
  /** Without one, answers are text only. */
  speaker?: Speaker | undefined
  bus?: VoiceBus | undefined
  logger?: Logger | undefined
  clock?: Clock | undefined
  /** What the client is told before every conversation. */
  instructions?: string | undefined
  /** Said once when an answer takes longer than `fillerAfterMs`. */
  filler?: string | undefined
  fillerAfterMs?: number | undefined
  answerTimeLimitMs?: number | undefined
  queueLimit?: number | undefined
}

/** Whether an utterance was taken; `done` resolves when it was answered and the answer was heard, and never rejects. */
export type Taken =
  | { accepted: true; id: string; done: Promise<ResponseMessage> }
  | { accepted: false; reason: string }

const INSTRUCTIONS =
  'You are the voice assistant of this home: what you write is spoken. Use the tools for what they can do or know, ' +
  'instead of guessing. What was said may be misheard. Answer in one or two short sentences, without lists or symbols.'

interface Waiting {
  turn: Turn
  resolve(response: ResponseMessage): void
}

/**
 * Takes what people say and has it answered in the background, one after the other: hears, asks the client with the
 * tools of the executor, tells the bus, and speaks.
 */
export class BackgroundTranscriber {
  readonly #options: BackgroundTranscriberOptions
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #history = new Conversations({ conversations: KEPT_CONVERSATIONS, messages: KEPT_MESSAGES })
  readonly #mouth: Mouth
  readonly #queue: Waiting[] = []
  readonly #closing = new AbortController()
  #isClosed = false
  #working: Promise<void> | undefined

  constructor(options: BackgroundTranscriberOptions) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#logger = options.logger ?? silentLogger
    this.#mouth = new Mouth(options.speaker, this.#logger)
  }

  /** Takes an utterance and returns at once. One that is taken interrupts what is being spoken. */
  take(utterance: Utterance): Taken {
    const { queueLimit = QUEUE_LIMIT } = this.#options
    if (this.#isClosed) return { accepted: false, reason: 'the voice gateway is being closed' }
    if (this.#queue.length >= queueLimit)
      return { accepted: false, reason: `${queueLimit} utterances are waiting already` }
    this.interrupt()
    const turn = new Turn(utterance, this.#clock)
    const done = new Promise<ResponseMessage>(resolve => void this.#queue.push({ turn, resolve }))
    this.#working ??= this.#workOff()
    return { accepted: true, id: turn.id, done }
  }

  /** Ends what is being spoken; what is being done goes on. */
  interrupt(): void {
    this.#mouth.shut()
  }

  /** Resolves when nothing is left to answer. */
  async idle(): Promise<void> {
    await this.#working
  }

  /** Takes nothing more and waits for the answer under way; those who wait are told that it is over. */
  async close({ drainMs = DRAIN_MS }: { drainMs?: number } = {}): Promise<void> {
    this.#isClosed = true
    this.interrupt()
    for (const { turn, resolve } of this.#queue.splice(0))
      resolve(this.#told(turn.response('failed', '', 'the voice gateway was closed')))
    const limit = this.#clock.setTimer(() => this.#closing.abort(), drainMs)
    await this.#working
    limit.cancel()
  }

  async #workOff(): Promise<void> {
    for (let next = this.#queue.shift(); next; next = this.#queue.shift())
      next.resolve(await this.#carryOut(next.turn))
    this.#working = undefined
  }

  /** Never rejects: whatever happens becomes the response. */
  async #carryOut(turn: Turn): Promise<ResponseMessage> {
    turn.begin()
    const spoken = this.#mouth.open()
    const response = this.#told(await this.#respond(turn, spoken))
    const speakingSince = this.#clock.now()
    await this.#mouth.finish(spoken)
    this.#log(response, this.#clock.now() - speakingSince)
    return response
  }

  async #respond(turn: Turn, spoken: SpokenAnswer): Promise<ResponseMessage> {
    try {
      const understood = await this.#understand(turn)
      if ('dropped' in understood) return turn.response('dropped', '', understood.dropped)
      turn.question = understood.text
      return await this.#ask(turn, spoken)
    } catch (error) {
      return this.#failed(turn, spoken, error)
    }
  }

  async #understand(turn: Turn) {
    const { transcriber, bus } = this.#options
    const work = () => understand(turn.utterance, transcriber, this.#closing.signal)
    const understood = turn.source === 'audio' ? await turn.timed('transcribeMs', work) : await work()
    const message =
      'dropped' in understood
        ? turn.transcription('', understood.dropped)
        : turn.transcription(understood.text)
    this.#tell(() => bus?.transcription(message))
    return understood
  }

  async #ask(turn: Turn, spoken: SpokenAnswer): Promise<ResponseMessage> {
    const { filler = FILLER, fillerAfterMs = FILLER_AFTER_MS } = this.#options
    let streamed = ''
    const speak = (text: string) => {
      streamed += text
      spoken.add(text)
    }
    const slow = this.#clock.setTimer(() => streamed.trim() === '' && spoken.say(filler), fillerAfterMs)
    try {
      const answer = await turn.timed('answerMs', () => this.#question(turn, speak))
      const text = answer.text.trim() || 'I have no answer to that.'
      if (!streamed.trim().endsWith(text)) spoken.add(`\n${text}`)
      this.#history.keep(turn.conversation, answer.messages)
      const problem = whyUnanswered(answer)
      return turn.response(problem === undefined ? 'answered' : 'failed', text, problem)
    } finally {
      slow.cancel()
    }
  }

  #question(turn: Turn, speak: (text: string) => void): Promise<Answer> {
    const {
      client,
      executor,
      instructions = INSTRUCTIONS,
      answerTimeLimitMs = ANSWER_TIME_LIMIT_MS,
    } = this.#options
    const said = this.#history.of(turn.conversation) ?? []
    return client.ask(
      [{ role: 'system', content: instructions }, ...said, { role: 'user', content: turn.question }],
      {
        executor,
        origin: 'voice',
        signal: this.#closing.signal,
        timeLimitMs: answerTimeLimitMs,
        onToken: speak,
        onCall: event => {
          // What a model says before a call is a sentence of its own.
          if (event.type === 'start') speak('\n')
          turn.note(event)
        },
      },
    )
  }

  #failed(turn: Turn, spoken: SpokenAnswer, error: unknown): ResponseMessage {
    const said = error instanceof Error ? error.message : String(error)
    if (this.#closing.signal.aborted) return turn.response('failed', '', 'the voice gateway was closed')
    const sentence = failureSentence(error)
    spoken.add(`\n${sentence}`)
    return turn.response('failed', sentence, said)
  }

  #told(response: ResponseMessage): ResponseMessage {
    this.#tell(() => this.#options.bus?.response(response))
    return response
  }

  #tell(publish: () => void): void {
    try {
      publish()
    } catch (error) {
      this.#logger.error({ error: String(error) }, 'The bus failed')
    }
  }

  #log(
    { id, conversation, outcome, question, error, calls, durations }: ResponseMessage,
    speakMs: number,
  ): void {
    const { waitMs, transcribeMs, answerMs, totalMs } = durations
    const fields = {
      id,
      conversation,
      question,
      calls: calls.map(({ name }) => name),
      wait_ms: waitMs,
      ...(transcribeMs !== undefined && { transcribe_ms: transcribeMs }),
      ...(answerMs !== undefined && { answer_ms: answerMs }),
      speak_ms: Math.round(speakMs),
      total_ms: totalMs,
      ...(error !== undefined && { error }),
    }
    if (outcome === 'failed') this.#logger.warn(fields, 'An utterance got no answer')
    else this.#logger.info(fields, outcome === 'answered' ? 'Answered' : 'Dropped')
  }
}
