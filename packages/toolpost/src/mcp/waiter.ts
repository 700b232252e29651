import type { Clock, Timer } from '../runtime/clock.ts'

/** Waits on a clock, and can be woken. One wait at a time. */
export class Waiter {
  readonly #clock: Clock
  #timer: Timer | undefined
  #resolve: (() => void) | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  wait(delayMs: number): Promise<void> {
    return new Promise(resolve => {
      this.#resolve = resolve
      this.#timer = this.#clock.setTimer(resolve, delayMs)
    })
  }

  wake(): void {
    this.#timer?.cancel()
    this.#resolve?.()
  }
}
