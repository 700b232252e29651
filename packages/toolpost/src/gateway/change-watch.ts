import { type Clock, systemClock, type Timer } from '../runtime/clock.ts'
import { CHANGE_LOOK_MS } from './limits.ts'

export interface ChangeWatchOptions<T> {
  /** What is looked at; compared as JSON. */
  read(): T
  /** Given what is there after it changed. */
  onChange(now: T): void
  clock?: Clock | undefined
}

/** Looks at something that does not tell of its changes, for as long as somebody wants to know. */
export class ChangeWatch<T> {
  readonly #options: ChangeWatchOptions<T>
  readonly #clock: Clock
  #timer: Timer | undefined
  #isWatching = false
  #seen = ''

  constructor(options: ChangeWatchOptions<T>) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
  }

  start(): void {
    if (this.#isWatching) return
    this.#isWatching = true
    this.#seen = JSON.stringify(this.#options.read())
    this.#wait()
  }

  stop(): void {
    this.#isWatching = false
    this.#timer?.cancel()
  }

  /** Looks at once, for those who know that something has happened. */
  look(): void {
    if (!this.#isWatching) return
    const value = this.#options.read()
    const now = JSON.stringify(value)
    if (now === this.#seen) return
    this.#seen = now
    this.#options.onChange(value)
  }

  #wait(): void {
    this.#timer = this.#clock.setTimer(() => {
      this.look()
      if (this.#isWatching) this.#wait()
    }, CHANGE_LOOK_MS)
    this.#timer.hold(false)
  }
}
