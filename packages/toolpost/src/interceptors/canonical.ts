import { createHash } from 'node:crypto'
import { isRecord } from '../runtime/guards.ts'

/** The same for equal arguments, whatever the order of their keys. Throws on anything but JSON, such as a cycle. */
export function fingerprint(value: unknown): string {
  return createHash('sha256').update(canonicalText(value)).digest('hex')
}

function canonicalText(value: unknown): string {
  const text = JSON.stringify(value, (_key, part: unknown) => {
    if (!isJson(part)) throw new TypeError('not JSON')
    if (typeof part === 'bigint') return { bigint: String(part) }
    return isRecord(part) ? sorted(part) : part
  })
  return text ?? 'undefined'
}

/** `false` for values that differ but look the same as JSON: two maps, two infinities. */
function isJson(part: unknown): boolean {
  if (typeof part === 'number') return Number.isFinite(part)
  return !(
    part instanceof Map ||
    part instanceof Set ||
    part instanceof ArrayBuffer ||
    ArrayBuffer.isView(part)
  )
}

/** Entries instead of an object, in which numeric keys always come first. */
function sorted(record: Record<string, unknown>): unknown {
  return { '': Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)) }
}
