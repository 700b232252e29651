/** Deeper data does not count as plain: writing it recursively would overflow the stack. */
const MAX_DEPTH = 500

/** How many values plain JSON data has, counting a long text as several; `undefined` if it is not plain or has more. */
export function plainSize(value: unknown, maxValues: number): number | undefined {
  const walk = { depth: 0, values: 1, maxValues }
  try {
    return isPlain(value, walk) ? walk.values : undefined
  } catch {
    // A getter or a proxy threw.
    return undefined
  }
}

interface Walk {
  depth: number
  values: number
  readonly maxValues: number
}

const CHARACTERS_PER_VALUE = 64

function isPlain(value: unknown, walk: Walk): boolean {
  if (typeof value === 'string') {
    walk.values += value.length / CHARACTERS_PER_VALUE
    return walk.values <= walk.maxValues
  }
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value === 'object') return value === null || isPlainObject(value, walk)
  return typeof value === 'boolean' || value === undefined
}

function isPlainObject(value: object, walk: Walk): boolean {
  if (++walk.depth > MAX_DEPTH) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  const isFit =
    prototype === Array.prototype
      ? isPlainList(value as unknown[], walk)
      : (prototype === Object.prototype || prototype === null) && hasPlainEntries(value, walk)
  walk.depth--
  return isFit
}

function isPlainList(values: readonly unknown[], walk: Walk): boolean {
  walk.values += values.length
  if (walk.values > walk.maxValues) return false
  for (let at = 0; at < values.length; at++) if (!isPlain(values[at], walk)) return false
  return true
}

function hasPlainEntries(value: object, walk: Walk): boolean {
  const entries = value as Record<string, unknown>
  for (const key in entries) if (++walk.values > walk.maxValues || !isPlain(entries[key], walk)) return false
  return true
}
