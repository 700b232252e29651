import { randomUUID } from 'node:crypto'
import type { Clock, Logger } from 'toolpost'
import type { Durations, MadeCall, ResponseMessage, TranscriptionMessage } from '../bus/voice-bus.ts'
import type { HeardSpeech } from '../listening/listening.ts'
import type { CallNotice } from '../sentences.ts'
import { DEFAULT_CONVERSATION, type Utterance } from '../utterance.ts'
import type { Understood } from './hearing.ts'

/** One utterance being processed, with what is known about it so far. */
export class Turn {
  readonly utterance: Utterance
  readonly id: string
  readonly conversation: string
  readonly calls: MadeCall[] = []
  question = ''
  readonly takenAt: number
  readonly #clock: Clock
  readonly #stages: { transcribeMs?: number; answerMs?: number } = {}

  constructor(utterance: Utterance, clock: Clock) {
    this.utterance = utterance
    this.id = utterance.id ?? randomUUID()
    this.conversation = utterance.conversation ?? DEFAULT_CONVERSATION
    this.#clock = clock
    this.takenAt = clock.now()
  }

  get source(): 'audio' | 'text' {
    return 'text' in this.utterance ? 'text' : 'audio'
  }

  /** The memory it takes while queued. */
  get bytes(): number {
    const { utterance } = this
    if ('text' in utterance) return utterance.text.length
    return 'wav' in utterance ? utterance.wav.byteLength : utterance.pcm.byteLength
  }

  get durations(): Durations {
    const { transcribeMs = 0, answerMs = 0 } = this.#stages
    const totalMs = this.#clock.now() - this.takenAt
    const waitMs = Math.max(0, totalMs - transcribeMs - answerMs)
    return { waitMs: rounded(waitMs), ...this.#stages, totalMs: rounded(totalMs) }
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
    const failure = result.success ? {} : { error: result.error }
    const { name, args } = call
    this.calls.push({ name, args, success: result.success, ...failure, durationMs: rounded(durationMs) })
  }

  transcription(heard: Understood): TranscriptionMessage {
    const { free_text, decision, margin } = 'text' in heard ? heard : {}
    return {
      id: this.id,
      conversation: this.conversation,
      source: this.source,
      ...('text' in heard ? { text: heard.text } : { text: '', dropped: heard.dropped }),
      ...(free_text !== undefined && { free_text }),
      ...(decision !== undefined && { decision }),
      ...(margin !== undefined && { margin: rounded(margin) }),
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
}

function rounded(ms: number): number {
  return Math.round(ms * 10) / 10
}

/** One record per turn, with the time of each stage. */
export function logTurn(
  logger: Logger,
  response: ResponseMessage,
  { speakMs, heard }: { speakMs: number; heard: Partial<HeardSpeech> },
): void {
  const { id, conversation, outcome, question, error, calls, durations } = response
  const { waitMs, transcribeMs, answerMs, totalMs } = durations
  const fields = {
    id,
    conversation,
    question,
    free_text: heard.free_text,
    decision: heard.decision,
    margin: heard.margin,
    calls: calls.map(({ name }) => name),
    wait_ms: waitMs,
    transcribe_ms: transcribeMs,
    answer_ms: answerMs,
    speak_ms: Math.round(speakMs),
    total_ms: totalMs,
    error,
  }
  if (outcome === 'failed') logger.warn(fields, 'Failed to answer an utterance')
  else logger.info(fields, outcome === 'answered' ? 'Answered' : 'Dropped')
}
