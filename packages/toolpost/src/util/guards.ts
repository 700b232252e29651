export function isObjectLike(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return isObjectLike(value) && !Array.isArray(value)
}

/** A record's own property: an inherited one, such as `constructor`, counts as absent. */
export function ownValue<T>(record: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined
}

/** The value at a path of own properties and indexes; `undefined` if there is none. */
export function valueAt(value: unknown, path: readonly (string | number)[]): unknown {
  let inner = value
  for (const key of path)
    inner = isObjectLike(inner) ? ownValue(inner as Record<string, unknown>, String(key)) : undefined
  return inner
}

/** Groups things by key; keeps their order. */
export function grouped<Key, T>(things: Iterable<T>, keyOf: (thing: T) => Key): Map<Key, T[]> {
  const groups = new Map<Key, T[]>()
  for (const thing of things) {
    const key = keyOf(thing)
    const group = groups.get(key)
    if (group) group.push(thing)
    else groups.set(key, [thing])
  }
  return groups
}
