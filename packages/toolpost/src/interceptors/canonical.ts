import { createHash } from 'node:crypto'
import { isRecord } from '../runtime/guards.ts'

/** The same for equal arguments, whatever the order of their keys. Throws on anything but JSON, such as a cycle. */
export function fingerprint(value: unknown): string {
  const text = JSON.stringify(value, (_key, part: unknown) => {
    if (looksLikeOthers(part)) throw new TypeError('not JSON')
    if (typeof part === 'bigint') return { bigint: String(part) }
    // Entries instead of an object, in which numeric keys always come first.
    return isRecord(part) ? { '': Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)) } : part
  })
  return createHash('sha256')
    .update(text ?? 'undefined')
    .digest('hex')
}

/** Whether different values look the same as JSON: two maps, two infinities. */
function looksLikeOthers(part: unknown): boolean {
  if (typeof part === 'number') return !Number.isFinite(part)
  return [Map, Set, ArrayBuffer].some(type => part instanceof type) || ArrayBuffer.isView(part)
}
