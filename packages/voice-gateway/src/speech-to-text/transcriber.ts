import type { SentenceGraph } from 'toolpost/models'

/** A sentence of a graph, in its words, and its log-likelihood with the end included. */
export interface HeardSentence {
  text: string
  score: number
}

/** What was heard freely, with its log-likelihood, and the likeliest sentences of a graph, best first. */
export interface Listened {
  text: string
  score: number
  sentences: readonly HeardSentence[]
  /** The text with names that somebody may have said (`TranscribeOptions.names`), if no sentence is near. */
  withNames?: string
}

export interface TranscribeOptions {
  signal?: AbortSignal | undefined
  /** Names that are a little likelier than they sound. */
  names?: readonly string[] | undefined
}

/** Turns speech into text. */
export interface Transcriber {
  /** What it is called, for the log. */
  readonly name: string
  /** Begins to load what it needs, once; resolves when an utterance need not wait for that. */
  ready(): Promise<void>
  /** What is said in 16 kHz mono samples of any length; empty if nobody speaks. Rejects with a TranscriberError. */
  transcribe(samples: Float32Array, options?: TranscribeOptions): Promise<string>
  /** The same, and along the sentences of a graph as well, if it can do that. */
  listen?(samples: Float32Array, options: TranscribeOptions & { graph: SentenceGraph }): Promise<Listened>
  close(): Promise<void>
}

/** Speech that could not be turned into text. The message says what to do. */
export class TranscriberError extends Error {
  override name = 'TranscriberError'
}
