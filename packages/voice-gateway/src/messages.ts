import type { ConversationMessage, SentenceGraph, Understood } from 'toolpost/models'
import type { Decision } from './listening/decision.ts'

/** The conversation of utterances that name none. */
export const DEFAULT_CONVERSATION = 'home'

/** Something said or written: text, a WAV file, or raw PCM (16 kHz, mono, 16 bits, little-endian). */
export type Utterance = ({ text: string } | { wav: Uint8Array } | { pcm: Uint8Array }) & {
  /** Who is talking; each conversation remembers what was said in it. */
  conversation?: string | undefined
  /** The room it was said in: "in here". */
  area?: string | undefined
  /** The sender's id, returned with the answer. Over MQTT, a repeated id is accepted only once. */
  id?: string | undefined
  /** It may have been meant for somebody else, so "not understood" is not spoken. */
  overheard?: boolean | undefined
}

type AboutUtterance = { id: string; conversation: string; durations: Durations; at: string }

/** Published as soon as it is known what was heard. */
export interface TranscriptionMessage extends AboutUtterance {
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
}

/** The outcome of an utterance, published once the answer is complete. */
export interface ResponseMessage extends AboutUtterance {
  outcome: 'answered' | 'failed' | 'dropped'
  /** What was understood. */
  question: string
  /** What the person is told. */
  text: string
  /** Why there is no answer, for the person on call. */
  error?: string
  calls: MadeCall[]
}

export interface MadeCall {
  name: string
  args: unknown
  success: boolean
  error?: string
  durationMs: number
}

/** Milliseconds in the queue, for the stages reached (an answer includes its calls), and since it was accepted. */
export type Durations = { waitMs: number; transcribeMs?: number; answerMs?: number; totalMs: number }

/** A question asked before something is done; the next utterance in that conversation is the answer. */
export type QuestionMessage = { conversation: string; text: string; at: string }

/** A timer has ended, or a command for later was carried out. */
export type TimerMessage = { name?: string | undefined; text: string; at: string }

/** Publishes conversations to others. Its functions must not throw or block. */
export interface VoiceBus {
  question?(message: QuestionMessage): void
  timer?(message: TimerMessage): void
  transcription(message: TranscriptionMessage): void
  response(message: ResponseMessage): void
}

/** What a sentence would do. */
export type Meaning = Understood

/** The sentences that can be understood; toolpost's OfflineClient implements it. */
export interface Grammar {
  /** The same object as long as nothing has changed. */
  graph(): SentenceGraph
  /** What the last message would do, in the context of those before it. Calls nothing. */
  understand(messages: readonly ConversationMessage[], options?: { area?: string | undefined }): Meaning
}
