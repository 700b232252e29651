import { performance } from 'node:perf_hooks'

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

/** Milliseconds with three digits after the point. */
export const rounded = (ms: number) => Math.round(ms * 1_000) / 1_000

const COALESCED_MS = 20

/** Debounces: changes that come together are reported once, a moment later. */
export function coalesced(tell: () => void) {
  let timer: NodeJS.Timeout | undefined
  const fire = () => {
    timer = undefined
    tell()
  }
  const soon = () => {
    timer ??= setTimeout(fire, COALESCED_MS).unref()
  }
  return { soon, stop: () => clearTimeout(timer) }
}

/** Settles as `work` does, or rejects with the signal's reason as soon as it is aborted, whatever `work` does. */
export function unlessAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  let giveUp = () => {}
  return new Promise<Value>((resolve, reject) => {
    giveUp = () => reject(signal.reason)
    if (signal.aborted) giveUp()
    signal.addEventListener('abort', giveUp)
    work.then(resolve, reject)
  }).finally(() => signal.removeEventListener('abort', giveUp))
}
