import type { Decision } from '../listening/decide.ts'

/** What was heard, as soon as it is known. */
export interface TranscriptionMessage {
  id: string
  conversation: string
  /** Whether it came as sound or as text. */
  source: 'audio' | 'text'
  text: string
  /** As it was heard without regard to what can be understood; `decision` says why `text` was taken. */
  free_text?: string
  decision?: Decision
  /** How much likelier `text` is than the next sentence that means something else, in nats. */
  margin?: number
  /** Why it goes no further, if so. */
  dropped?: string
  durations: Durations
  at: string
}

/** What became of an utterance, as soon as the answer is complete. */
export interface ResponseMessage {
  id: string
  conversation: string
  outcome: 'answered' | 'failed' | 'dropped'
  /** What was understood. */
  question: string
  /** What is said to the person. */
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

/** Milliseconds in each stage, as far as it has come. */
export interface Durations {
  /** In the queue. */
  waitMs: number
  transcribeMs?: number
  /** From the question to the whole answer, calls included. */
  answerMs?: number
  /** From the moment it was taken until now. */
  totalMs: number
}

/** What is asked before something is done; what is said next in that conversation is the answer. */
export interface QuestionMessage {
  conversation: string
  text: string
  at: string
}

/** Where a conversation is told to others. None of the functions throws, nor waits. */
export interface VoiceBus {
  question?(message: QuestionMessage): void
  transcription(message: TranscriptionMessage): void
  response(message: ResponseMessage): void
}
