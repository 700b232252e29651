import { cleaner } from '../logging/safe-value.ts'
import { plainCopy } from '../runtime/plain-value.ts'

const MAX_DEPTH = 64
/** A typical minimum per value in JSON, separators included; limits how many values are counted. */
const BYTES_PER_VALUE = 4

export interface Recorded {
  value: unknown
  /** The approximate size as JSON. */
  bytes: number
}

/**
 * A copy of `value` for the journal: plain data, without secrets. A value over `maxBytes` is replaced by a note of its
 * size. Never throws.
 */
export function recordValue(value: unknown, maxBytes: number): Recorded {
  const copy = plainCopy(value, {
    maxDepth: MAX_DEPTH,
    maxEntries: Number.POSITIVE_INFINITY,
    maxBytes,
    maxValues: maxBytes / BYTES_PER_VALUE,
    isWhole: true,
    cleaner,
  })
  if (copy.bytes <= maxBytes) return copy
  const size = copy.isComplete ? copy.bytes : `more than ${copy.bytes}`
  return { value: { '…': `shortened, ${size} bytes` }, bytes: 100 }
}
