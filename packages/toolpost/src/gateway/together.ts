import { type Clock, systemClock, type Timer } from '../runtime/clock.ts'
import { LIST_CHANGE_DELAY_MS } from './limits.ts'

/** Changes that come together are told of once, a moment later. */
export function together(
  tell: () => void,
  clock: Clock = systemClock,
  delayMs = LIST_CHANGE_DELAY_MS,
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
