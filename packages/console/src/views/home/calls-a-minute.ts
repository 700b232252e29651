import type { CallRecord } from 'toolpost/gateway'

export interface Minute {
  /** Its start, in milliseconds since 1970. */
  at: number
  calls: number
  failed: number
}

const MINUTE_MS = 60_000

/** The last `count` minutes, oldest first, including the current one. */
export function callsAMinute(calls: readonly CallRecord[], now: number, count: number): Minute[] {
  const last = Math.floor(now / MINUTE_MS)
  const minutes = Array.from({ length: count }, (_, at) => ({
    at: (last - count + 1 + at) * MINUTE_MS,
    calls: 0,
    failed: 0,
  }))
  for (const { startedAt, result } of calls) {
    const minute = minutes[Math.floor(startedAt / MINUTE_MS) - last + count - 1]
    if (minute === undefined) continue
    minute.calls += 1
    if (result?.success === false) minute.failed += 1
  }
  return minutes
}
