import { expect, vi } from 'vitest'

/** An expectation that may take its time, as long as the machine is busy. */
export function eventually<T>(get: () => T) {
  return expect.poll(get, { interval: 5, timeout: 10_000 })
}

/** As `vi.waitFor`, for as long as a busy machine needs. */
export function waitFor<T>(check: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(check, { interval: 5, timeout: 10_000 })
}
