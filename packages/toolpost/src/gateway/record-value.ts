import { cleaner } from '../logging/safe-value.ts'
import { plainSize } from '../runtime/plain-size.ts'
import { type PlainCopy, type PlainLimits, plainCopy } from '../runtime/plain-value.ts'

const MAX_DEPTH = 64
/** A typical minimum per value in JSON, separators included; limits how many values are counted. */
const BYTES_PER_VALUE = 4
/** With more values, it is worth counting first: removing the secrets of what is then discarded takes 30 ms. */
const MAX_FEW = 500

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
  const limits: PlainLimits = {
    maxDepth: MAX_DEPTH,
    maxEntries: Number.POSITIVE_INFINITY,
    maxBytes,
    maxValues: maxBytes / BYTES_PER_VALUE,
    isWhole: true,
  }
  if (plainSize(value, MAX_FEW) === undefined) {
    const counted = plainCopy(value, limits)
    if (counted.bytes > maxBytes) return noteOf(counted)
  }
  const copy = plainCopy(value, { ...limits, cleaner })
  return copy.bytes <= maxBytes ? copy : noteOf(copy)
}

function noteOf({ bytes, isComplete }: PlainCopy): Recorded {
  return { value: { '…': `shortened, ${isComplete ? bytes : `more than ${bytes}`} bytes` }, bytes: 100 }
}
