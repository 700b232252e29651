import type { Clock, Timer } from '../util/clock.ts'

export interface FakeClock extends Clock {
  /** Moves time forward, firing due timers in order; pending promises settle between them. */
  advance(ms: number): Promise<void>
  readonly pending: number
}

/** A clock that moves only when told to. */
export function fakeClock(start = 0): FakeClock {
  let now = start
  const timers = new Set<{ at: number; callback(): void }>()
  const next = (until: number) =>
    [...timers].filter(timer => timer.at <= until).sort((a, b) => a.at - b.at)[0]
  return {
    now: () => now,
    setTimer(callback, delayMs): Timer {
      const timer = { at: now + delayMs, callback }
      timers.add(timer)
      return { cancel: () => void timers.delete(timer), hold: () => {} }
    },
    async advance(ms) {
      await turn()
      const until = now + ms
      for (let timer = next(until); timer; timer = next(until)) {
        timers.delete(timer)
        now = timer.at
        timer.callback()
        await turn()
      }
      now = until
      await turn()
    },
    get pending() {
      return timers.size
    },
  }
}

function turn(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}
