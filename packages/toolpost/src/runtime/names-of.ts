/** Listing the keys of larger objects takes milliseconds every time. */
export const MANY_NAMES = 500

/** For objects with many keys; most turns have none, and then nothing is looked up. */
let listed: WeakMap<object, readonly string[]> | undefined

/**
 * The keys of an object. If it has many, they are listed once per turn of the event loop, however many sinks read it; its
 * owner may change it before the next turn.
 */
export function namesOf(value: object): readonly string[] {
  const before = listed?.get(value)
  if (before) return before
  const names = Object.keys(value)
  if (names.length > MANY_NAMES) remember(value, names)
  return names
}

function remember(value: object, names: readonly string[]): void {
  if (!listed) {
    listed = new WeakMap()
    setImmediate(() => {
      listed = undefined
    })
  }
  listed.set(value, names)
}

let kept: WeakMap<object, readonly string[]> | undefined

/** Caches the names of large arguments, for callers that only display some of them later. */
export function keepNames(value: object): void {
  kept ??= new WeakMap()
  kept.set(value, namesOf(value))
}

/** Whether an object is known to have many names, without listing them; `false` if unknown. */
export function hasManyNames(value: object): boolean {
  return kept?.has(value) || listed?.has(value) || false
}

/** Like `namesOf`, but may be stale: for display only. */
export function shownNames(value: object): readonly string[] {
  return kept?.get(value) ?? namesOf(value)
}
