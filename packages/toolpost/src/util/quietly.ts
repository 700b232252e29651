import { isThenable } from './guards.ts'

/**
 * Runs somebody else's callback. If it throws or rejects, the error goes to `onError` and nowhere else: it must never
 * reach other calls or the process.
 */
export function quietly(callback: () => unknown, onError: (error: unknown) => void = () => {}): void {
  try {
    const returned = callback()
    if (isThenable(returned)) Promise.resolve(returned).then(undefined, onError)
  } catch (error) {
    onError(error)
  }
}

/** What was thrown, as text; works even for values that throw when they are read. */
export function describeThrown(thrown: unknown): string {
  try {
    const text = thrown instanceof Error ? thrown.message : thrown
    return String(text)
  } catch {
    return 'an unprintable value'
  }
}
