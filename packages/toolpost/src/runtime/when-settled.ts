/** A longer chain of thenables is hostile or broken. */
const MAX_NESTED = 1_000

type Settle = (value: unknown) => void

const { then: promiseThen } = Promise.prototype

/**
 * Calls one of the callbacks, exactly once and asynchronously, when a promise or thenable settles. Unlike `await`, it
 * does not read the `then` of the final value again, and gives up on thenables that resolve to themselves or to yet
 * another one forever: native promises would follow those without ever yielding to the event loop.
 */
export function whenSettled(outcome: PromiseLike<unknown>, onValue: Settle, onError: Settle): void {
  if (!isFollowedByItself(outcome, onValue, onError))
    queueMicrotask(() => new Following(onValue, onError).follow(outcome))
}

/** The same as a promise. The value is boxed, so that the promise does not read its `then`. */
export function settling(outcome: PromiseLike<unknown>): Promise<{ value: unknown }> {
  return new Promise((resolve, reject) => {
    whenSettled(outcome, value => resolve({ value }), reject)
  })
}

/** Native promises only, and not through an overridden `then`, which may settle twice or synchronously. */
function isFollowedByItself(outcome: unknown, onValue: Settle, onError: Settle): boolean {
  try {
    if (!(outcome instanceof Promise)) return false
    promiseThen.call(outcome, onValue, onError)
    return true
  } catch {
    // Not a real promise, only its prototype.
    return false
  }
}

class Following {
  readonly #seen = new Set<unknown>()
  readonly #onValue: Settle
  readonly #onError: Settle

  constructor(onValue: Settle, onError: Settle) {
    this.#onValue = onValue
    this.#onError = onError
  }

  follow(value: unknown): void {
    const { isThenable, then, error } = readThen(value)
    if (error) return this.#onError(error.thrown)
    if (!isThenable) return this.#onValue(value)
    const problem = this.#whyNot(value)
    if (problem) return this.#onError(new Error(problem))
    let hasSettled = false
    const once = (settle: Settle) => (settled: unknown) => {
      if (hasSettled) return
      hasSettled = true
      settle(settled)
    }
    const fail = once(this.#onError)
    try {
      then.call(
        value,
        once(inner => this.#goOn(inner)),
        fail,
      )
    } catch (error) {
      fail(error)
    }
  }

  #goOn(inner: unknown): void {
    if (isPrimitive(inner)) this.#onValue(inner)
    else if (!isFollowedByItself(inner, this.#onValue, this.#onError)) setImmediate(() => this.follow(inner))
  }

  #whyNot(value: unknown): string | undefined {
    if (this.#seen.has(value)) return 'A thenable resolved to itself'
    this.#seen.add(value)
    return this.#seen.size > MAX_NESTED ? `More than ${MAX_NESTED} nested thenables` : undefined
  }
}

type Then = (onValue: Settle, onError: Settle) => unknown
type ReadThen =
  | { isThenable: true; then: Then; error?: undefined }
  | { isThenable: false; then?: undefined; error?: { thrown: unknown } }

/** Reads `then` once: a getter may return something else the next time. */
function readThen(value: unknown): ReadThen {
  if (isPrimitive(value)) return { isThenable: false }
  try {
    const { then } = value as { then?: unknown }
    return typeof then === 'function' ? { isThenable: true, then: then as Then } : { isThenable: false }
  } catch (thrown) {
    return { isThenable: false, error: { thrown } }
  }
}

function isPrimitive(value: unknown): boolean {
  return value === null || (typeof value !== 'object' && typeof value !== 'function')
}
