import type { Decision } from '../listening/decision.ts'

/** Published as soon as it is known what was heard. */
export interface TranscriptionMessage {
  id: string
  conversation: string
  /** Whether it arrived as sound or text. */
  source: 'audio' | 'text'
  text: string
  /** The free transcript, without the grammar; `decision` says why `text` was chosen. */
  free_text?: string
  decision?: Decision
  /** How much likelier `text` is than the next sentence that means something else, in nats. */
  margin?: number
  /** Why it is not answered, if so. */
  dropped?: string
  durations: Durations
  at: string
}

/** The outcome of an utterance, published once the answer is complete. */
export interface ResponseMessage {
  id: string
  conversation: string
  outcome: 'answered' | 'failed' | 'dropped'
  /** What was understood. */
  question: string
  /** What the person is told. */
  text: string
  /** Why there is no answer, for the person on call. */
  error?: string
  calls: MadeCall[]
  durations: Durations
  at: string
}

export interface MadeCall {
  name: string
  args: unknown
  success: boolean
  error?: string
  durationMs: number
}

/** Milliseconds per stage, for the stages reached. */
export interface Durations {
  /** In the queue. */
  waitMs: number
  transcribeMs?: number
  /** From the question to the complete answer, calls included. */
  answerMs?: number
  /** Since it was accepted. */
  totalMs: number
}

/** A question asked before something is done; the next utterance in that conversation is the answer. */
export interface QuestionMessage {
  conversation: string
  text: string
  at: string
}

/** Publishes conversations to others. Its functions must not throw or block. */
export interface VoiceBus {
  question?(message: QuestionMessage): void
  transcription(message: TranscriptionMessage): void
  response(message: ResponseMessage): void
}
