import { UsageError } from './exit-codes.ts'

/** The milliseconds of `--timeout`, if it was given. */
export function timeoutOf({ timeout }: { timeout?: string }): number | undefined {
  if (timeout === undefined) return undefined
  const timeoutMs = Number(timeout)
  if (timeout.trim() !== '' && Number.isFinite(timeoutMs) && timeoutMs > 0) return timeoutMs
  throw new UsageError(`--timeout expects milliseconds, got '${timeout}'`)
}
