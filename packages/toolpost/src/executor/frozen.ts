/** A deep copy of plain data that nobody can change. Other objects, such as dates, are kept as they are. */
export function frozenCopy(value: unknown): unknown {
  return copy(value, Object.freeze)
}

/** A deep copy of plain data that may be changed. */
export function plainCopy(value: unknown): unknown {
  return copy(value, same => same)
}

function copy(value: unknown, seal: (copied: object) => object): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return seal(value.map(entry => copy(entry, seal)))
  const prototype = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return value
  const result: Record<string, unknown> = {}
  for (const key of Object.keys(value)) result[key] = copy((value as Record<string, unknown>)[key], seal)
  return seal(result)
}
