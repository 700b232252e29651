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
  return path.reduce<unknown>(
    (inner, key) =>
      isObjectLike(inner) ? ownValue(inner as Record<string, unknown>, String(key)) : undefined,
    value,
  )
}

/** Whether `await` would wait for the value. Reading `then` may throw. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return false
  return typeof (value as { then?: unknown }).then === 'function'
}
