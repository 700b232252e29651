import type { SentenceGraph } from 'toolpost/models'

/** A sentence of a graph and its log-likelihood, including the end. */
export interface HeardSentence {
  text: string
  score: number
}

/** The free transcript with its log-likelihood, and the likeliest sentences of a graph, best first. */
export interface Listened extends HeardSentence {
  sentences: readonly HeardSentence[]
}

export interface TranscribeOptions {
  signal?: AbortSignal | undefined
}

export interface ListenOptions extends TranscribeOptions {
  graph: SentenceGraph
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

/** Runs tasks one at a time, in order. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve()

  /** Rejects immediately when the signal is aborted; the next task still waits for this one to finish. */
  take<T>(task: () => Promise<T>, signal?: AbortSignal | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      const abort = () =>
        reject(new TranscriberError('Transcription was cancelled', { cause: signal?.reason }))
      if (signal?.aborted) return abort()
      signal?.addEventListener('abort', abort, { once: true })
      this.#last = this.#last
        .then(() => (signal?.aborted ? undefined : task().then(resolve)))
        .catch(reject)
        .finally(() => signal?.removeEventListener('abort', abort))
    })
  }

  /** Resolves when all tasks have finished. */
  async over(): Promise<void> {
    await this.#last
  }
}
