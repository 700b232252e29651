import { type Clock, systemClock, type Timer } from './clock.ts'

/** Debounces: changes that come together are reported once, a moment later. */
export function coalesced(tell: () => void, clock: Clock = systemClock, delayMs = 20) {
  let timer: Timer | undefined
  return {
    soon: () => {
      timer ??= clock.setTimer(() => {
        timer = undefined
        tell()
      }, delayMs)
      timer.hold(false)
    },
    stop: () => timer?.cancel(),
  }
}
