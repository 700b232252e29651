import { type Clock, systemClock, type Timer } from '../runtime/clock.ts'
import { LIST_CHANGE_DELAY_MS } from './limits.ts'

/** Changes that come together are told of once, a moment later. */
export function together(tell: () => void, clock: Clock = systemClock): { soon(): void; stop(): void } {
  let timer: Timer | undefined
  return {
    soon: () => {
      if (timer) return
      timer = clock.setTimer(() => {
        timer = undefined
        tell()
      }, LIST_CHANGE_DELAY_MS)
      timer.hold(false)
    },
    stop: () => timer?.cancel(),
  }
}
