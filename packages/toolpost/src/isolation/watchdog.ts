import { SHARE_ENV, Worker } from 'node:worker_threads'

/** The thread's input, including the values of `state`, so that it need not load another file. */
export interface WatchdogData {
  state: Int32Array
  atRest: number
  atWork: number
  parentPid: number
  checkEveryMs: number
}

const atRest = 0
const atWork = 1
const checkEveryMs = 500

/**
 * Ends this process if its parent goes away while the main thread is too busy to notice: a spinning thread never sees
 * that its channel was closed. Adds about 10 ms to the start, and 9 MB; sleeps between calls.
 */
export class Watchdog {
  readonly #state = new Int32Array(new SharedArrayBuffer(4))

  constructor(parentPid: number) {
    const workerData: WatchdogData = { state: this.#state, atRest, atWork, parentPid, checkEveryMs }
    const resourceLimits = { maxOldGenerationSizeMb: 4, maxYoungGenerationSizeMb: 1, stackSizeMb: 1 }
    new Worker(new URL('./watchdog-thread.js', import.meta.url), {
      workerData,
      resourceLimits,
      env: SHARE_ENV,
    }).unref()
  }

  watch(): void {
    Atomics.store(this.#state, 0, atWork)
    Atomics.notify(this.#state, 0)
  }

  /** Does not wake the thread: it notices at its next check, so a quick call costs no context switch. */
  rest(): void {
    Atomics.store(this.#state, 0, atRest)
  }
}
