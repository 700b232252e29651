/** Time as the executor sees it; tests pass their own (`fakeClock` in `toolpost/testing`). */
export interface Clock {
  /** Milliseconds; monotonic. */
  now(): number
  setTimer(callback: () => void, delayMs: number): Timer
}

export interface Timer {
  cancel(): void
  /** Whether the timer keeps the process alive. */
  hold(alive: boolean): void
}

/** The longest delay Node's timers support. */
export const MAX_TIMER_MS = 2 ** 31 - 1

/** Read once: the global is behind a getter. */
const { performance } = globalThis

export const systemClock: Clock = {
  now: () => performance.now(),
  setTimer(callback, delayMs) {
    const timer = setTimeout(callback, delayMs)
    return {
      cancel: () => clearTimeout(timer),
      hold: alive => void (alive ? timer.ref() : timer.unref()),
    }
  },
}
