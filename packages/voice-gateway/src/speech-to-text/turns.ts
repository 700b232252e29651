import { TranscriberError } from './transcriber.ts'

/** Runs one task after the other, in the order in which they came. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve()

  /** Rejects at once when the signal is aborted; the next task still waits until this one has come to its end. */
  take<T>(task: () => Promise<T>, signal?: AbortSignal | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      const abort = () => reject(new TranscriberError('Transcribing was stopped', { cause: signal?.reason }))
      if (signal?.aborted) return abort()
      signal?.addEventListener('abort', abort, { once: true })
      this.#last = this.#last
        .then(() => (signal?.aborted ? undefined : task().then(resolve)))
        .catch(reject)
        .finally(() => signal?.removeEventListener('abort', abort))
    })
  }

  /** Resolves when all tasks have come to their end. */
  async over(): Promise<void> {
    await this.#last
  }
}
