import { TranscriberError } from './transcriber.ts'

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
