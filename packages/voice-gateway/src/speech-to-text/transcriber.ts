/** Turns speech into text. */
export interface Transcriber {
  /** What it is called, for the log. */
  readonly name: string
  /** Begins to load what it needs, once; resolves when an utterance need not wait for that. */
  ready(): Promise<void>
  /** What is said in 16 kHz mono samples of any length; empty if nobody speaks. Rejects with a TranscriberError. */
  transcribe(samples: Float32Array, options?: { signal?: AbortSignal | undefined }): Promise<string>
  close(): Promise<void>
}

/** Speech that could not be turned into text. The message says what to do. */
export class TranscriberError extends Error {
  override name = 'TranscriberError'
}
