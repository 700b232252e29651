import { expect, vi } from 'vitest'

/** A busy machine needs a while; a test that waits for other processes may give them longer. */
const PATIENCE_MS = 45_000

/** An expectation that may take its time. */
export function eventually<T>(get: () => T, timeout = PATIENCE_MS) {
  return expect.poll(get, { interval: 5, timeout })
}

/** As `vi.waitFor`, for as long as a busy machine needs. */
export function waitFor<T>(check: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(check, { interval: 5, timeout: PATIENCE_MS })
}
