/** Listing the names of larger objects takes milliseconds, each time. */
const MANY = 2_000

/** Of objects with many; there are none in most turns, and then nothing is looked up. */
let listed: WeakMap<object, readonly string[]> | undefined

/**
 * The names of an object. Those of one with many are listed once a turn, however many sinks look at it; its owner may
 * change it before the next.
 */
export function namesOf(value: object): readonly string[] {
  const before = listed?.get(value)
  if (before) return before
  const names = Object.keys(value)
  if (names.length > MANY) remember(value, names)
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
