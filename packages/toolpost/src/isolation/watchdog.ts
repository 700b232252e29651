import { SHARE_ENV, Worker } from 'node:worker_threads'

/** What the thread is given; the values of `state` too, so that it loads no other file. */
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
 * Ends this process when its parent is gone while the main thread is too busy to notice: a spinning thread
 * never sees that its channel was closed. Costs about 10 ms of the start and 9 MB; sleeps between calls.
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

  /** The thread is not woken for this: it sees it at its next check, and a quick call costs no switch. */
  rest(): void {
    Atomics.store(this.#state, 0, atRest)
  }
}
