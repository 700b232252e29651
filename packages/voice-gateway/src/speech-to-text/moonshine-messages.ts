import type { SentenceGraph } from 'toolpost/models'
import type { Listened } from './transcriber.ts'

/** To the child. Requests are answered in order; `graph`, `stop` and `reset` are not answered. */
export type ToChild =
  | { type: 'transcribe'; id: number; samples: Float32Array; isBound: boolean; names: readonly string[] }
  /** Another of the `HEARINGS` of the last recording. */
  | { type: 'hear-again'; id: number; hearing: number }
  | { type: 'probability'; id: number; detector: number; frame: Float32Array }
  /** The sentences to listen for from now on. */
  | { type: 'graph'; graph: SentenceGraph }
  | { type: 'stop'; id: number }
  | { type: 'reset'; detector: number }

export type Request = Extract<ToChild, { type: 'transcribe' | 'hear-again' | 'probability' }>

/** The answer to a request: a probability; what was heard; or nothing if it cannot be heard again in time. */
export type Value = number | Listened | null

/** From the child: `ready` or `unusable` first, then one answer per request. */
export type FromChild =
  | { type: 'ready' }
  | { type: 'unusable'; message: string }
  | { type: 'answer'; id: number; value: Value }
  | { type: 'failed'; id: number; message: string }
