import { type Clock, systemClock, type Timer } from './clock.ts'

const DELAY_MS = 20

/** Debounces: changes that come together are reported once, a moment later. */
export function coalesced(
  tell: () => void,
  clock: Clock = systemClock,
  delayMs = DELAY_MS,
): { soon(): void; stop(): void } {
  let timer: Timer | undefined
  return {
    soon: () => {
      if (timer) return
      timer = clock.setTimer(() => {
        timer = undefined
        tell()
      }, delayMs)
      timer.hold(false)
    },
    stop: () => timer?.cancel(),
  }
}
