import { Worker } from 'node:worker_threads'
import { followSecrets } from '../logging/safe-value.ts'
import type { Clock } from '../runtime/clock.ts'
import { compiledFile } from '../runtime/package-root.ts'
import { type Batch, packed } from './call-batch.ts'
import type { FromWriter, ThreadData, ToWriter } from './messages.ts'

export interface WritingEvents {
  onOpen(lastSerial: number): void
  /** A batch is in the file, or not, if there is a problem. */
  onDone(done: { calls: number; characters: number; problem?: string }): void
  onProblem(problem: string): void
  onReplaced(text: string): void
  /** The thread has ended, on its own or on request. */
  onEnd(): void
}

/** The writer thread, as seen from the main thread. */
export class Writing {
  readonly #worker: Worker
  readonly #ended: Promise<void>
  readonly #flushes = new Map<number, () => void>()
  #flushId = 0
  #isClosing = false

  constructor(data: Omit<ThreadData, 'role'>, events: WritingEvents) {
    const worker = new Worker(compiledFile('history/thread.js'), { workerData: { ...data, role: 'write' } })
    this.#worker = worker
    worker.on('message', (message: FromWriter) => this.#take(message, events))
    worker.on('error', error => events.onProblem(`The history's writer thread failed: ${error.message}`))
    const unfollow = followSecrets(secrets => this.#post({ type: 'secrets', secrets }))
    this.#ended = new Promise(resolve => {
      worker.once('exit', () => {
        unfollow()
        for (const done of this.#flushes.values()) done()
        events.onEnd()
        resolve()
      })
    })
  }

  /** Transfers the batch to the other thread. */
  write(batch: Batch): void {
    this.#worker.postMessage({ type: 'batch', batch: packed(batch) } satisfies ToWriter, [
      batch.numbers.buffer,
    ])
  }

  /** Resolves when everything sent is in the file or lost, or after `limitMs`. */
  flushed(clock: Clock, limitMs: number): Promise<void> {
    const id = ++this.#flushId
    return new Promise(resolve => {
      const timer = clock.setTimer(() => this.#isFlushed(id), limitMs)
      this.#flushes.set(id, () => {
        timer.cancel()
        resolve()
      })
      this.#post({ type: 'flush', id })
    })
  }

  /** Has the file checked, and set aside if it is damaged. */
  check(): void {
    this.#post({ type: 'damaged' })
  }

  /** Resolves when everything is written and the file closed. */
  close(): Promise<void> {
    this.#isClosing = true
    this.#worker.ref()
    this.#post({ type: 'close' })
    return this.#ended
  }

  #post(message: ToWriter): void {
    this.#worker.postMessage(message)
  }

  #take(message: FromWriter, events: WritingEvents): void {
    // From here on it no longer keeps the process alive.
    if (!this.#isClosing) this.#worker.unref()
    if (message.type === 'open') events.onOpen(message.lastSerial)
    if (message.type === 'done') events.onDone(message)
    if (message.type === 'problem') events.onProblem(message.problem)
    if (message.type === 'replaced') events.onReplaced(message.text)
    if (message.type === 'flushed') this.#isFlushed(message.id)
  }

  #isFlushed(id: number): void {
    this.#flushes.get(id)?.()
    this.#flushes.delete(id)
  }
}
