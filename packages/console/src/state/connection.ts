/** The state of the connection to the gateway. */
export type Connection =
  | { state: 'connecting' }
  | { state: 'open' }
  /** `retryAt` in milliseconds since 1970. */
  | { state: 'gone'; retryAt: number }
  | { state: 'token'; refused: boolean }

/** The gateway sends a comment every 15 s: after this long without a byte, the connection is dead. */
export const SILENCE_MS = 40_000

const FIRST_DELAY_MS = 500
const LONGEST_DELAY_MS = 5_000

/** The pause before reconnect attempt `n` (from 1): none at first, since the gateway may only have closed the stream. */
export function retryDelayMs(attempt: number): number {
  return attempt <= 1 ? 0 : Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (attempt - 2))
}
