import { type Ask, type Clock, type Logger, silentLogger, systemClock, type ToolExecutor } from 'toolpost'
import type { ResponseMessage, VoiceBus } from './bus/voice-bus.ts'
import { Answering } from './conversation/answering.ts'
import { ears, type HeardTurn, type Understood, understand } from './conversation/hearing.ts'
import {
  ANSWER_TIME_LIMIT_MS,
  CLOSED,
  DRAIN_MS,
  FILLER,
  FILLER_AFTER_MS,
  INSTRUCTIONS,
  NOT_MEANT,
  QUEUE_BYTES,
  QUEUE_LIMIT,
} from './conversation/limits.ts'
import { Mouth } from './conversation/mouth.ts'
import { Questions } from './conversation/questions.ts'
import { logTurn, Turn } from './conversation/turn.ts'
import { listenTo } from './listening/listening.ts'
import type { AiClient, Grammar } from './sentences.ts'
import type { Speaker } from './speech-out/speaker.ts'
import type { Transcriber } from './speech-to-text/transcriber.ts'
import type { Utterance } from './utterance.ts'

export interface BackgroundTranscriberOptions {
  transcriber: Transcriber
  client: AiClient
  /** The sentences understood without a model; they guide speech recognition. */
  grammar?: (() => Promise<Grammar | undefined>) | undefined
  /** Runs every call. */
  executor: ToolExecutor
  /** Without one, answers are text only. */
  speaker?: Speaker | undefined
  bus?: VoiceBus | undefined
  logger?: Logger | undefined
  /** Asks the person before something dangerous is done; by default, the question is spoken. */
  ask?: Ask | undefined
  /** Called with what a person should know, e.g. that nothing can be spoken. Also logged. */
  onNotice?: ((notice: string) => void) | undefined
  clock?: Clock | undefined
  /** The system prompt of every conversation. */
  instructions?: string | undefined
  /** Said once if an answer takes longer than `fillerAfterMs`. */
  filler?: string | undefined
  fillerAfterMs?: number | undefined
  answerTimeLimitMs?: number | undefined
  queueLimit?: number | undefined
}

/** Whether an utterance was accepted. `done` resolves once the answer has been spoken; it never rejects. */
export type Taken =
  | { accepted: true; id: string; done: Promise<ResponseMessage> }
  | { accepted: false; reason: string }

interface Waiting {
  turn: Turn
  heard: Promise<HeardTurn>
  resolve(response: ResponseMessage): void
}

/**
 * Answers utterances in the background, one after another: transcribes, asks the client with the executor's tools,
 * publishes to the bus, and speaks. Every accepted utterance gets exactly one response.
 */
export class BackgroundTranscriber {
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #bus: VoiceBus | undefined
  readonly #queueLimit: number
  readonly #options: BackgroundTranscriberOptions
  readonly #hear: ReturnType<typeof ears>
  readonly #isMeant: (conversation: string, sentence: string) => Promise<boolean>
  readonly #mouth: Mouth
  readonly #questions: Questions
  readonly #answering: Answering
  /** Utterances that came while a question was open, until it is clear whether they answer it. */
  readonly #replies = new Set<Turn>()
  readonly #queue: Waiting[] = []
  readonly #closing = new AbortController()
  #isClosed = false
  #working: Promise<void> | undefined

  constructor(options: BackgroundTranscriberOptions) {
    const { client, executor, speaker, ask, onNotice = () => {} } = options
    const { clock = systemClock, logger = silentLogger } = options
    const { signal } = this.#closing
    this.#clock = clock
    this.#logger = logger
    this.#bus = options.bus
    this.#queueLimit = options.queueLimit ?? QUEUE_LIMIT
    this.#mouth = new Mouth({ speaker, logger, onProblem: onNotice })
    this.#questions = new Questions({
      mouth: this.#mouth,
      clock,
      onQuestion: (conversation, text) =>
        this.#tell(bus => bus.question?.({ conversation, text, at: new Date().toISOString() })),
    })
    this.#answering = new Answering({
      client,
      executor,
      mouth: this.#mouth,
      ask: (conversation, question) => ask?.(question) ?? this.#questions.ask(conversation, question),
      clock,
      signal,
      instructions: options.instructions ?? INSTRUCTIONS,
      filler: options.filler ?? FILLER,
      fillerAfterMs: options.fillerAfterMs ?? FILLER_AFTER_MS,
      timeLimitMs: options.answerTimeLimitMs ?? ANSWER_TIME_LIMIT_MS,
    })
    this.#options = options
    this.#hear = ears((samples, conversation) =>
      listenTo(samples, options, { signal, history: this.#answering.historyOf(conversation) }),
    )
    this.#isMeant = async (conversation, sentence) => {
      const message = `Did you mean "${sentence.replace(/[.?!]$/, '')}"?`
      if (ask) return (await ask({ message })).action === 'accept'
      return this.#questions.confirm(conversation, message)
    }
  }

  /** Accepts an utterance and returns immediately. Once understood, it interrupts what is being spoken. */
  take(utterance: Utterance): Taken {
    const turn = new Turn(utterance, this.#clock)
    const reason = this.#reasonToRefuse(turn)
    if (reason !== undefined) return { accepted: false, reason }
    const heard = this.#hear(turn).then(result => this.#understood(turn, result))
    return { accepted: true, id: turn.id, done: this.#reply(turn, heard) ?? this.#line(turn, heard) }
  }

  /** Transcribes an utterance without answering it. Rejects with a TranscriberError. */
  hear(utterance: Utterance, options: { signal?: AbortSignal | undefined } = {}): Promise<Understood> {
    return understand(utterance, samples => listenTo(samples, this.#options, options))
  }

  /** Stops speaking; calls in progress go on. */
  interrupt(): void {
    this.#mouth.interrupt()
  }

  /** Resolves when nothing is left to answer. */
  async idle(): Promise<void> {
    await this.#working
  }

  /** Refuses new utterances, waits for the answer in progress, and fails those still queued. */
  async close({ drainMs = DRAIN_MS }: { drainMs?: number } = {}): Promise<void> {
    this.#isClosed = true
    this.#questions.close()
    this.#mouth.interrupt()
    for (const { turn, resolve } of this.#queue.splice(0))
      resolve(this.#told(turn.response('failed', '', CLOSED)))
    const limit = this.#clock.setTimer(() => this.#closing.abort(), drainMs)
    await this.#working
    limit.cancel()
  }

  #reasonToRefuse(turn: Turn): string | undefined {
    if (this.#isClosed) return 'the voice gateway is shutting down'
    const waiting = [...this.#replies, ...this.#queue.map(({ turn }) => turn)]
    if (waiting.length >= this.#queueLimit) return `${this.#queueLimit} utterances are already waiting`
    const bytes = waiting.reduce((sum, { bytes }) => sum + bytes, turn.bytes)
    if (bytes > QUEUE_BYTES && waiting.length > 0) return 'too much audio is already waiting'
    return undefined
  }

  /** Handles an utterance that may answer an open question; if it does not, it is queued like any other. */
  #reply(turn: Turn, heard: Promise<HeardTurn>): Promise<ResponseMessage> | undefined {
    const question = this.#questions.in(turn.conversation)
    if (!question) return undefined
    this.#replies.add(turn)
    return question.take(heard).then(async isAnswer => {
      this.#replies.delete(turn)
      if (!isAnswer) return this.#line(turn, heard)
      const result = await heard
      turn.question = 'text' in result ? result.text : ''
      return this.#told(turn.response('answered', ''))
    })
  }

  #line(turn: Turn, heard: Promise<HeardTurn>): Promise<ResponseMessage> {
    if (this.#isClosed) return Promise.resolve(this.#told(turn.response('failed', '', CLOSED)))
    const done = new Promise<ResponseMessage>(resolve => void this.#queue.push({ turn, heard, resolve }))
    this.#working ??= this.#workOff()
    return done
  }

  #understood(turn: Turn, heard: HeardTurn): HeardTurn {
    if ('failure' in heard) return heard
    const message = turn.transcription(heard)
    this.#tell(bus => bus.transcription(message))
    if ('text' in heard) this.#mouth.interrupt()
    return heard
  }

  async #workOff(): Promise<void> {
    for (let next = this.#queue.shift(); next; next = this.#queue.shift()) {
      const { turn, resolve } = next
      // A logger or clock that throws must not stop the queue.
      resolve(await this.#carryOut(next).catch(error => turn.response('failed', '', String(error))))
    }
    this.#working = undefined
  }

  async #carryOut({ turn, heard: hearing }: Waiting): Promise<ResponseMessage> {
    this.#mouth.begin()
    const heard = await hearing
    const response = this.#told(await this.#respond(turn, heard))
    const speakingSince = this.#clock.now()
    // If closed while this answer was being made, do not wait for it to be spoken.
    if (this.#isClosed) this.#mouth.shut()
    await this.#mouth.finish()
    this.#answering.heard(response)
    const speakMs = this.#clock.now() - speakingSince
    logTurn(this.#logger, response, { speakMs, heard: 'text' in heard ? heard : {} })
    return response
  }

  async #respond(turn: Turn, heard: HeardTurn): Promise<ResponseMessage> {
    if ('failure' in heard) return this.#answering.failed(turn, heard.failure)
    if ('dropped' in heard) return turn.response('dropped', '', heard.dropped)
    turn.question = heard.text
    if (heard.decision === 'ask' && !(await this.#isMeant(turn.conversation, heard.text)))
      return turn.response('answered', NOT_MEANT)
    return this.#answering.answer(turn)
  }

  #told(response: ResponseMessage): ResponseMessage {
    this.#tell(bus => bus.response(response))
    return response
  }

  #tell(publish: (bus: VoiceBus) => void): void {
    try {
      if (this.#bus) publish(this.#bus)
    } catch (error) {
      this.#logger.error({ error: String(error) }, 'Publishing to the bus failed')
    }
  }
}
