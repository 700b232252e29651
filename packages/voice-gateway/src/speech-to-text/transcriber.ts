import type { SentenceGraph } from 'toolpost/models'

/** A sentence of a graph and its log-likelihood, including the end. */
export interface HeardSentence {
  text: string
  score: number
}

/** The free transcript with its log-likelihood, and the likeliest sentences of a graph, best first. */
export interface Listened {
  text: string
  score: number
  sentences: readonly HeardSentence[]
  /** The text with names that may have been said (`TranscribeOptions.names`), if no sentence is near. */
  withNames?: string
}

export interface TranscribeOptions {
  signal?: AbortSignal | undefined
  /** Names to favour slightly. */
  names?: readonly string[] | undefined
}

export interface ListenOptions extends TranscribeOptions {
  graph: SentenceGraph
  /** Whether what was heard is clear enough. If it is not and there is time, the speech is searched more widely. */
  isClear?: ((heard: Listened) => boolean) | undefined
}

/** Turns speech into text. */
export interface Transcriber {
  /** Its name, for the log. */
  readonly name: string
  /** Starts loading what it needs, once; resolves when loaded. */
  ready(): Promise<void>
  /** Transcribes 16 kHz mono samples of any length; empty if there is no speech. Rejects with a TranscriberError. */
  transcribe(samples: Float32Array, options?: TranscribeOptions): Promise<string>
  /** The same, and also against the sentences of a graph; absent if not supported. */
  listen?(samples: Float32Array, options: ListenOptions): Promise<Listened>
  close(): Promise<void>
}

/** Speech that could not be turned into text. The message says what to do. */
export class TranscriberError extends Error {
  override name = 'TranscriberError'
}
