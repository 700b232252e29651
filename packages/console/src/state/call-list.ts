import type { CallRecord } from 'toolpost/gateway'
import { isRecord } from '../api/guards.ts'

/** As many as the gateway keeps. */
export const MAX_CALLS = 1_000

/** The list with newer records of calls in it, oldest first. A finished call is never set back to running. */
export function withCalls(calls: readonly CallRecord[], records: Iterable<CallRecord>): CallRecord[] {
  const bySerial = new Map(calls.map(call => [call.serial, call]))
  for (const record of records) {
    const known = bySerial.get(record.serial)
    if (known?.result === undefined || record.result !== undefined) bySerial.set(record.serial, record)
  }
  const all = [...bySerial.values()].sort((a, b) => a.serial - b.serial)
  return all.slice(-MAX_CALLS)
}

/** `calls` with a page of older ones before them, both without what the other has; oldest first. */
export function withOlder(calls: readonly CallRecord[], older: readonly CallRecord[]): CallRecord[] {
  if (older.length === 0) return [...calls]
  const known = new Set(calls.map(keyOf))
  const all = [...older.filter(call => !known.has(keyOf(call))), ...calls]
  return all.sort((a, b) => a.startedAt - b.startedAt || a.serial - b.serial)
}

/** Processes that share a history may give the same number. */
export function keyOf({ serial, startedAt }: CallRecord): string {
  return `${serial}-${startedAt}`
}

export interface CallFilter {
  tool?: string | undefined
  source?: string | undefined
  /** An outcome, or `slow`. */
  outcome?: string | undefined
}

export function filterCalls(
  calls: readonly CallRecord[],
  { tool, source, outcome }: CallFilter,
): CallRecord[] {
  return calls.filter(
    call =>
      (tool === undefined || call.tool === tool) &&
      (source === undefined || call.source === source) &&
      (outcome === undefined || (outcome === 'slow' ? call.slow : outcomeOf(call) === outcome)),
  )
}

function outcomeOf({ result }: CallRecord): string {
  if (result === undefined) return 'running'
  return result.success ? 'succeeded' : 'failed'
}

/** Why the recorded arguments cannot be sent again as they are; `undefined` if they can. */
export function obstacleToRepeat(args: unknown): string | undefined {
  if (isShortened(args)) return 'The arguments were too large to be kept.'
  try {
    const text = JSON.stringify(args) ?? ''
    if (SHORTENED.test(text)) return 'The arguments were too large to be kept whole.'
    if (text.includes('"[removed]"')) return 'Secrets were removed from the arguments: fill them in again.'
  } catch {
    return 'The arguments are nested too deeply to be sent again.'
  }
  return undefined
}

/** What the gateway writes in place of what it left out of a long text, a long list, or a deep value. */
const SHORTENED = /… \(\d+ characters\)"|"… \d+ more"|"…":"\d+ more"|"\[…\]"/

function isShortened(args: unknown): boolean {
  if (typeof args === 'string') return /shortened, (?:more than )?\d+ bytes/.test(args)
  return isRecord(args) && Object.keys(args).length === 1 && '…' in args
}
