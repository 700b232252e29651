import { expect } from 'vitest'

/** An expectation that may take its time, as long as the machine is busy. */
export function eventually<T>(get: () => T) {
  return expect.poll(get, { interval: 5, timeout: 10_000 })
}
