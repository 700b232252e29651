import { RECONNECT_BASE_DELAY_MS, RECONNECT_MAX_DELAY_MS } from './limits.ts'

/** Before attempt 1, 2, 3, … of a first connection: 0, base, 2 × base, … */
export function firstConnectionDelayMs(attempt: number, baseDelayMs: number): number {
  return attempt <= 1 ? 0 : baseDelayMs * 2 ** (attempt - 2)
}

/** Before attempt 1, 2, 3, … to get a lost server back: at once, then doubling up to a cap, for ever. */
export function reconnectDelayMs(attempt: number): number {
  return attempt <= 1 ? 0 : Math.min(RECONNECT_BASE_DELAY_MS * 2 ** (attempt - 2), RECONNECT_MAX_DELAY_MS)
}
