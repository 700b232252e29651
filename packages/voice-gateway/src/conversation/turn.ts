import { randomUUID } from 'node:crypto'
import type { Clock } from 'toolpost'
import type { CallEvent } from 'toolpost/models'
import type { Durations, MadeCall, ResponseMessage, TranscriptionMessage } from '../bus/voice-bus.ts'
import { DEFAULT_CONVERSATION, type Utterance } from '../utterance.ts'

/** One utterance on its way, with what is known of it so far. */
export class Turn {
  readonly utterance: Utterance
  readonly id: string
  readonly conversation: string
  readonly calls: MadeCall[] = []
  question = ''
  readonly #clock: Clock
  readonly #takenAt: number
  readonly #stages: Omit<Durations, 'totalMs'> = { waitMs: 0 }

  constructor(utterance: Utterance, clock: Clock) {
    this.utterance = utterance
    this.id = utterance.id ?? randomUUID()
    this.conversation = utterance.conversation ?? DEFAULT_CONVERSATION
    this.#clock = clock
    this.#takenAt = clock.now()
  }

  get source(): 'audio' | 'text' {
    return 'text' in this.utterance ? 'text' : 'audio'
  }

  get durations(): Durations {
    return { ...this.#stages, totalMs: this.#since(this.#takenAt) }
  }

  /** Its turn has come. */
  begin(): void {
    this.#stages.waitMs = this.#since(this.#takenAt)
  }

  /** What `work` gives; how long it took is kept under `stage`. */
  async timed<T>(stage: 'transcribeMs' | 'answerMs', work: () => Promise<T>): Promise<T> {
    const startedAt = this.#clock.now()
    try {
      return await work()
    } finally {
      this.#stages[stage] = this.#since(startedAt)
    }
  }

  note(event: CallEvent): void {
    if (event.type !== 'end') return
    const { call, result, durationMs } = event
    const failure = result.success ? {} : { error: result.error }
    const { name, args } = call
    this.calls.push({ name, args, success: result.success, ...failure, durationMs: rounded(durationMs) })
  }

  transcription(text: string, dropped?: string): TranscriptionMessage {
    return {
      id: this.id,
      conversation: this.conversation,
      source: this.source,
      text,
      ...(dropped !== undefined && { dropped }),
      durations: this.durations,
      at: new Date().toISOString(),
    }
  }

  response(outcome: ResponseMessage['outcome'], text: string, error?: string): ResponseMessage {
    return {
      id: this.id,
      conversation: this.conversation,
      outcome,
      question: this.question,
      text,
      ...(error !== undefined && { error }),
      calls: this.calls,
      durations: this.durations,
      at: new Date().toISOString(),
    }
  }

  #since(moment: number): number {
    return rounded(this.#clock.now() - moment)
  }
}

function rounded(ms: number): number {
  return Math.round(ms * 10) / 10
}
