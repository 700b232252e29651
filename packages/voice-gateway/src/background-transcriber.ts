import { type Ask, type Clock, type Logger, silentLogger, systemClock, type ToolExecutor } from 'toolpost'
import type { AiClient, ConversationMessage } from 'toolpost/models'
import { AudioError, readAudio, reasonToDrop } from './audio/wav.ts'
import { Answering, CLOSED } from './conversation/answering.ts'
import { Questions } from './conversation/questions.ts'
import { Turn } from './conversation/turn.ts'
import { decide, type Heard } from './listening/decision.ts'
import type { Grammar, ResponseMessage, Utterance, VoiceBus } from './messages.ts'
import { Mouth } from './speech-out/mouth.ts'
import type { Speaker } from './speech-out/speaker.ts'
import type { Transcriber } from './speech-to-text/transcriber.ts'

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
  /** Said once if an answer takes longer than 1.5 s. */
  filler?: string | undefined
  queueLimit?: number | undefined
}

/** Whether an utterance was accepted. `done` resolves once the answer has been spoken; it never rejects. */
export type Taken =
  | { accepted: true; id: string; done: Promise<ResponseMessage> }
  | { accepted: false; reason: string }

/** How many utterances may wait, and how much audio in total; more is refused. */
const QUEUE_LIMIT = 16
const QUEUE_BYTES = 64 * 1024 * 1024
const MAX_TEXT_LENGTH = 10_000
/** How long an answer in progress may take when the gateway closes. */
const DRAIN_MS = 10_000

/**
 * Answers utterances in the background, one after another: transcribes, asks the client with the executor's tools,
 * publishes to the bus, and speaks. Every accepted utterance gets exactly one response.
 */
export class BackgroundTranscriber {
  readonly #options: BackgroundTranscriberOptions
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #mouth: Mouth
  readonly #questions: Questions
  readonly #answering: Answering
  /** In the order in which they came; the first is being answered. */
  #queue: Turn[] = []
  readonly #closing = new AbortController()
  #lastHearing: Promise<unknown> = Promise.resolve()
  #working: Promise<void> | undefined
  #isClosed = false

  constructor(options: BackgroundTranscriberOptions) {
    const { speaker, ask, onNotice = () => {}, clock = systemClock, logger = silentLogger } = options
    this.#options = options
    this.#clock = clock
    this.#logger = logger
    this.#mouth = new Mouth({ speaker, logger, onProblem: onNotice })
    this.#questions = new Questions(this.#mouth, clock, options.bus)
    this.#answering = new Answering({
      ...options,
      mouth: this.#mouth,
      ask: (conversation, question) => ask?.(question) ?? this.#questions.ask(conversation, question),
      clock,
      signal: this.#closing.signal,
    })
  }

  /** Accepts an utterance and returns immediately. Once understood, it interrupts what is being spoken. */
  take(utterance: Utterance): Taken {
    const turn = new Turn(utterance, this.#clock)
    const reason = this.#reasonToRefuse(turn)
    if (reason !== undefined) return { accepted: false, reason }
    this.#queue.push(turn)
    turn.hearing = this.#hearTurn(turn)
    this.#working ??= this.#workOff()
    return { accepted: true, id: turn.id, done: turn.done }
  }

  /**
   * Transcribes an utterance without answering it, with the help of the sentences that can be understood; earlier messages
   * say what "it" refers to. Rejects with a TranscriberError.
   */
  async hear(
    utterance: Utterance,
    { signal, history = [] }: { signal?: AbortSignal; history?: readonly ConversationMessage[] } = {},
  ): Promise<Heard | { dropped: string }> {
    if ('text' in utterance) {
      const text = utterance.text.trim()
      if (text === '') return { dropped: 'the utterance is empty' }
      if (text.length <= MAX_TEXT_LENGTH) return { text }
      return { dropped: `the text has more than ${MAX_TEXT_LENGTH} characters` }
    }
    const { transcriber, grammar: load } = this.#options
    const { area } = utterance
    const listen = async (samples: Float32Array): Promise<Heard> => {
      const grammar = transcriber.listen && (await load?.())
      if (!grammar || !transcriber.listen)
        return { text: (await transcriber.transcribe(samples, { signal })).trim() }
      const listened = await transcriber.listen(samples, { signal, graph: grammar.graph() })
      return decide({ ...listened, text: listened.text.trim() }, content =>
        grammar.understand([...history, { role: 'user', content }], { area }),
      )
    }
    try {
      const samples = await readAudio(utterance)
      const dropped = reasonToDrop(samples)
      if (dropped !== undefined) return { dropped }
      const heard = await listen(samples)
      return heard.text === '' ? { dropped: 'the recording contains no speech' } : heard
    } catch (error) {
      if (error instanceof AudioError) return { dropped: error.message }
      throw error
    }
  }

  /** Says something that nobody asked for, such as that a timer has ended, once nothing else is being said. */
  async announce(text: string): Promise<void> {
    await this.#working
    if (this.#isClosed) return
    this.#mouth.begin()
    this.#mouth.add(text)
    await this.#mouth.finish()
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
    for (const turn of this.#queue.splice(this.#working ? 1 : 0))
      this.#end(turn, turn.response('failed', '', CLOSED))
    const limit = this.#clock.setTimer(() => this.#closing.abort(), drainMs)
    await this.#working
    limit.cancel()
  }

  #reasonToRefuse(turn: Turn): string | undefined {
    if (this.#isClosed) return 'the voice gateway is shutting down'
    const waiting = this.#queue.slice(1)
    const limit = this.#options.queueLimit ?? QUEUE_LIMIT
    if (waiting.length >= limit) return `${limit} utterances are already waiting`
    const bytes = waiting.reduce((sum, { bytes }) => sum + bytes, turn.bytes)
    return bytes > QUEUE_BYTES && waiting.length > 0 ? 'too much audio is already waiting' : undefined
  }

  /** Hears one utterance after another, even while an earlier one is still being answered. */
  async #hearTurn(turn: Turn): Promise<void> {
    const reply = this.#questions.listenIn(turn.conversation)
    const hear = () => {
      turn.history = this.#answering.historyOf(turn.conversation)
      return this.hear(turn.utterance, { signal: this.#closing.signal, history: turn.history })
    }
    const heard = this.#lastHearing
      .then(() => (turn.source === 'audio' ? turn.timed('transcribeMs', hear) : hear()))
      .catch((failure: unknown) => ({ failure }))
    this.#lastHearing = heard
    turn.heard = await heard
    if (turn.state === 'done') return
    turn.state = 'waiting'
    const text = 'text' in turn.heard ? turn.heard.text : undefined
    if (!('failure' in turn.heard)) this.#options.bus?.transcription(turn.transcription())
    if (text !== undefined) this.#mouth.interrupt()
    if (reply?.(text)) this.#end(turn, turn.response('answered', ''))
  }

  async #workOff(): Promise<void> {
    for (let turn = this.#queue[0]; turn; turn = this.#queue[0]) {
      try {
        await turn.hearing
        if (turn.state === 'waiting') await this.#carryOut(turn)
      } catch (error) {
        // A bus, logger or clock that throws must not stop the queue.
        turn.finish(turn.response('failed', '', String(error)))
      }
      this.#leave(turn)
    }
    this.#working = undefined
  }

  async #carryOut(turn: Turn): Promise<void> {
    turn.state = 'answering'
    this.#mouth.begin()
    const response = await this.#respond(turn)
    this.#options.bus?.response(response)
    turn.state = 'speaking'
    const speakingSince = this.#clock.now()
    // If closed while this answer was being made, do not wait for it to be spoken.
    if (this.#isClosed) this.#mouth.shut()
    await this.#mouth.finish()
    this.#answering.spoken(response)
    turn.log(this.#logger, response, this.#clock.now() - speakingSince)
    turn.finish(response)
  }

  async #respond(turn: Turn): Promise<ResponseMessage> {
    const { heard, conversation } = turn
    if ('failure' in heard) return this.#answering.failed(turn, heard.failure)
    if ('dropped' in heard) return turn.response('dropped', '', heard.dropped)
    if (heard.decision === 'ask') {
      const { ask } = this.#options
      const message = `Did you mean "${heard.text.replace(/[.?!]$/, '')}"?`
      const isMeant = ask
        ? (await ask({ message })).action === 'accept'
        : await this.#questions.confirm(conversation, message)
      if (!isMeant) return turn.response('answered', 'Nothing was done.')
    }
    return this.#answering.answer(turn, heard.meaning)
  }

  /** Ends a turn that is not answered itself. */
  #end(turn: Turn, response: ResponseMessage): void {
    this.#leave(turn)
    this.#options.bus?.response(response)
    turn.finish(response)
  }

  #leave(turn: Turn): void {
    this.#queue = this.#queue.filter(other => other !== turn)
  }
}
