import { isThenable } from './guards.ts'

/**
 * Runs somebody else's callback. What it throws, or what the promise it returns rejects with, goes to `onError` and
 * nowhere else: it must reach neither the calls beside this one nor the process.
 */
export function quietly(callback: () => unknown, onError: (error: unknown) => void = ignore): void {
  try {
    const returned = callback()
    if (isThenable(returned)) Promise.resolve(returned).catch(onError)
  } catch (error) {
    onError(error)
  }
}

function ignore(): void {}

/** What was thrown, in words: also for values that throw when they are looked at. */
export function describeThrown(thrown: unknown): string {
  try {
    const text = thrown instanceof Error ? thrown.message : thrown
    return String(text)
  } catch {
    return 'something that cannot be shown'
  }
}
