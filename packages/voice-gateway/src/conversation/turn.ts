import { randomUUID } from 'node:crypto'
import type { Clock, Logger } from 'toolpost'
import type { CallNotice, ConversationMessage } from 'toolpost/models'
import type { Heard } from '../listening/decision.ts'
import {
  DEFAULT_CONVERSATION,
  type Durations,
  type MadeCall,
  type ResponseMessage,
  type TranscriptionMessage,
  type Utterance,
} from '../messages.ts'

/** What was said, why it was dropped, or what went wrong. */
type HeardTurn = Heard | { dropped: string } | { failure: unknown }

/** One utterance: `hearing → waiting → answering → speaking → done`, or from `waiting` straight to `done`. */
export class Turn {
  state: 'hearing' | 'waiting' | 'answering' | 'speaking' | 'done' = 'hearing'
  readonly utterance: Utterance
  readonly id: string
  readonly conversation: string
  readonly source: 'audio' | 'text'
  readonly calls: MadeCall[] = []
  readonly takenAt: number
  /** Resolves with the response, once it was spoken. */
  readonly done: Promise<ResponseMessage>
  heard: HeardTurn = { dropped: '' }
  /** The conversation in which it was understood. */
  history: readonly ConversationMessage[] | undefined
  hearing: Promise<void> = Promise.resolve()
  #resolve: (response: ResponseMessage) => void = () => {}
  readonly #clock: Clock
  readonly #stages: { transcribeMs?: number; answerMs?: number } = {}

  constructor(utterance: Utterance, clock: Clock) {
    this.utterance = utterance
    this.id = utterance.id ?? randomUUID()
    this.conversation = utterance.conversation ?? DEFAULT_CONVERSATION
    this.source = 'text' in utterance ? 'text' : 'audio'
    this.#clock = clock
    this.takenAt = clock.now()
    this.done = new Promise(resolve => {
      this.#resolve = resolve
    })
  }

  get bytes(): number {
    const { utterance } = this
    if ('text' in utterance) return utterance.text.length
    return 'wav' in utterance ? utterance.wav.byteLength : utterance.pcm.byteLength
  }

  get question(): string {
    return 'text' in this.heard ? this.heard.text : ''
  }

  finish(response: ResponseMessage): void {
    this.state = 'done'
    this.#resolve(response)
  }

  /** Runs `work` and records how long it took as `stage`. */
  async timed<T>(stage: 'transcribeMs' | 'answerMs', work: () => Promise<T>): Promise<T> {
    const startedAt = this.#clock.now()
    try {
      return await work()
    } finally {
      this.#stages[stage] = rounded(this.#clock.now() - startedAt)
    }
  }

  note(event: CallNotice): void {
    if (event.type !== 'end') return
    const { call, result, durationMs } = event
    const { name, args } = call
    const failure = result.success ? {} : { error: result.error }
    this.calls.push({ name, args, success: result.success, ...failure, durationMs: rounded(durationMs) })
  }

  transcription(): TranscriptionMessage {
    const { id, conversation, source, question: text, heard } = this
    const dropped = 'dropped' in heard ? { dropped: heard.dropped } : {}
    return { id, conversation, source, text, ...dropped, ...this.#recognition, ...this.#times }
  }

  response(outcome: ResponseMessage['outcome'], text: string, error?: string): ResponseMessage {
    const { id, conversation, question, calls } = this
    const reason = error === undefined ? {} : { error }
    return { id, conversation, outcome, question, text, ...reason, calls, ...this.#times }
  }

  /** One record per turn, with the time of each stage. */
  log(logger: Logger, response: ResponseMessage, speakMs: number): void {
    const { outcome, id, conversation, question, error, durations } = response
    const calls = this.calls.map(({ name }) => name)
    const times = { ...durations, speakMs: rounded(speakMs) }
    const fields = { id, conversation, question, ...this.#recognition, calls, ...times, error }
    if (outcome === 'failed') logger.warn(fields, 'Failed to answer an utterance')
    else logger.info(fields, outcome === 'answered' ? 'Answered' : 'Dropped')
  }

  get #recognition(): Pick<TranscriptionMessage, 'free_text' | 'decision' | 'margin'> {
    if (!('text' in this.heard)) return {}
    const { text: _, meaning: __, ...recognition } = this.heard
    return recognition
  }

  get #times(): { durations: Durations; at: string } {
    const { transcribeMs = 0, answerMs = 0 } = this.#stages
    const totalMs = this.#clock.now() - this.takenAt
    const waitMs = Math.max(0, totalMs - transcribeMs - answerMs)
    const durations = { waitMs: rounded(waitMs), ...this.#stages, totalMs: rounded(totalMs) }
    return { durations, at: new Date().toISOString() }
  }
}

function rounded(ms: number): number {
  return Math.round(ms * 10) / 10
}
