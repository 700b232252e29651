import { cleaner } from '../logging/safe-value.ts'
import { plainCopy } from '../runtime/plain-value.ts'

const MAX_DEPTH = 64
/** As JSON, with what separates them, values have that many and more: of more of them only some are counted. */
const BYTES_PER_VALUE = 4

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
    maxValues: maxBytes / BYTES_PER_VALUE,
    cleaner,
  })
  if (copy.bytes <= maxBytes) return copy
  const size = copy.isComplete ? copy.bytes : `more than ${copy.bytes}`
  return { value: { '…': `shortened, ${size} bytes` }, bytes: 100 }
}
