import { createHash } from 'node:crypto'
import { isRecord } from '../runtime/guards.ts'

/** The same for the same arguments, in whatever order their keys stand. Throws on what is not JSON, such as a cycle. */
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

/** What JSON would make the same of that is not: two maps, two kinds of infinity. */
function isJson(part: unknown): boolean {
  if (typeof part === 'number') return Number.isFinite(part)
  return !(
    part instanceof Map ||
    part instanceof Set ||
    part instanceof ArrayBuffer ||
    ArrayBuffer.isView(part)
  )
}

/** Entries and not an object: keys that look like numbers would stand first in whatever order they come. */
function sorted(record: Record<string, unknown>): unknown {
  return { '': Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)) }
}
