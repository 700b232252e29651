import { type Clock, systemClock } from '../runtime/clock.ts'
import { ModelError } from './model-error.ts'

interface TimeLimitOptions {
  limitMs: number
  /** The caller's own. */
  signal: AbortSignal | undefined
  clock?: Clock | undefined
}

/** Thrown inside the loop when the time is up; the loop turns it into an answer. */
export class TimeIsUp extends Error {
  override name = 'TimeIsUp'
}

/** The end of one question, whichever comes first: its time limit or the caller's abort. */
export class TimeLimit {
  readonly #controller = new AbortController()
  readonly #clock: Clock
  readonly #endsAt: number
  readonly #release: () => void

  constructor({ limitMs, signal, clock = systemClock }: TimeLimitOptions) {
    this.#clock = clock
    this.#endsAt = clock.now() + limitMs
    const timer = clock.setTimer(
      () => this.#controller.abort(new TimeIsUp(`No answer after ${limitMs} ms`)),
      limitMs,
    )
    const stop = () => this.#controller.abort(new ModelError('stopped', 'The question was stopped'))
    signal?.addEventListener('abort', stop, { once: true })
    if (signal?.aborted) stop()
    this.#release = () => {
      timer.cancel()
      signal?.removeEventListener('abort', stop)
    }
  }

  /** Aborts with a TimeIsUp or a ModelError as its reason. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  get remainingMs(): number {
    return this.#endsAt - this.#clock.now()
  }

  /** Settles as `work` does, but no later than the end: whoever does the work may ignore its signal. */
  async hold<Value>(work: Promise<Value>): Promise<Value> {
    const { signal } = this
    // Whoever stops waiting must not leave a rejection behind that nobody handles.
    work.catch(() => {})
    signal.throwIfAborted()
    let giveUp = () => {}
    const end = new Promise<never>((_, reject) => {
      giveUp = () => reject(signal.reason)
      signal.addEventListener('abort', giveUp, { once: true })
    })
    try {
      return await Promise.race([work, end])
    } finally {
      signal.removeEventListener('abort', giveUp)
    }
  }

  /** Waits; rejects at the end. */
  async wait(delayMs: number): Promise<void> {
    let cancel = () => {}
    try {
      await this.hold(
        new Promise<void>(resolve => {
          cancel = this.#clock.setTimer(resolve, delayMs).cancel
        }),
      )
    } finally {
      cancel()
    }
  }

  close(): void {
    this.#release()
  }
}
