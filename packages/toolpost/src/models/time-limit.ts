import { type Clock, systemClock, type Timer } from '../util/clock.ts'
import { unlessAborted } from '../util/unless-aborted.ts'
import { ModelError } from './model-error.ts'

interface TimeLimitOptions {
  limitMs: number
  /** The caller's signal. */
  signal: AbortSignal | undefined
  clock?: Clock | undefined
}

/** Thrown inside the loop when time is up; the loop turns it into an answer. */
export class TimeIsUp extends Error {
  override name = 'TimeIsUp'
}

/** Ends a question at its time limit or the caller's abort, whichever comes first. */
export class TimeLimit {
  /** Aborts with a TimeIsUp or a ModelError as the reason. */
  readonly signal: AbortSignal
  readonly close: () => void
  readonly #clock: Clock
  readonly #endsAt: number

  constructor({ limitMs, signal, clock = systemClock }: TimeLimitOptions) {
    const controller = new AbortController()
    this.signal = controller.signal
    this.#clock = clock
    this.#endsAt = clock.now() + limitMs
    const timer = clock.setTimer(
      () => controller.abort(new TimeIsUp(`No answer after ${limitMs} ms`)),
      limitMs,
    )
    const stop = () => controller.abort(stopped())
    signal?.addEventListener('abort', stop, { once: true })
    if (signal?.aborted) stop()
    this.close = () => {
      timer.cancel()
      signal?.removeEventListener('abort', stop)
    }
  }

  get remainingMs(): number {
    return this.#endsAt - this.#clock.now()
  }

  /** Settles as `work` does, but no later than the limit: the work may ignore its signal. */
  hold<Value>(work: Promise<Value>): Promise<Value> {
    return unlessAborted(work, this.signal)
  }

  /** Waits; rejects when the limit is reached. */
  async wait(delayMs: number): Promise<void> {
    let timer: Timer | undefined
    const over = new Promise<void>(resolve => {
      timer = this.#clock.setTimer(resolve, delayMs)
    })
    await this.hold(over).finally(() => timer?.cancel())
  }
}

/** The error of a question that its caller stopped. */
export function stopped(): ModelError {
  return new ModelError('stopped', 'The question was stopped')
}
