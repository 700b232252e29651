import { cleaner } from '../logging/safe-value.ts'
import { plainCopy } from '../runtime/plain-value.ts'

const MAX_DEPTH = 64
/** Counting stops after so many values: a size that large is only ever shown. */
const MAX_COUNTED = 200_000

export interface Recorded {
  value: unknown
  /** About as many as the value has as JSON. */
  bytes: number
}

/**
 * A copy of `value` for the journal: plain data, without secrets. A value of more than `maxBytes` becomes a note of
 * its size. Never throws.
 */
export function recordValue(value: unknown, maxBytes: number): Recorded {
  const copy = plainCopy(value, {
    maxDepth: MAX_DEPTH,
    maxEntries: Number.POSITIVE_INFINITY,
    maxBytes,
    maxValues: MAX_COUNTED,
    cleaner,
  })
  if (copy.bytes <= maxBytes) return copy
  const size = copy.isComplete ? copy.bytes : `more than ${copy.bytes}`
  return { value: { '…': `shortened, ${size} bytes` }, bytes: 100 }
}
