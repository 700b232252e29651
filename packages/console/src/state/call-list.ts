import type { CallRecord, Progress } from 'toolpost/gateway'
import { isRecord } from '../api/guards.ts'
import { shortJson } from '../text/json-text.ts'

/** As many as the gateway keeps. */
export const MAX_CALLS = 1_000

/** The list updated with newer records, oldest first. A finished call is never set back to running. */
export function withCalls(calls: readonly CallRecord[], records: Iterable<CallRecord>): CallRecord[] {
  const known = new Map(calls.map(call => [call.serial, call]))
  for (const record of records) {
    const before = known.get(record.serial)
    if (before?.result === undefined || record.result !== undefined) known.set(record.serial, record)
  }
  const all = [...known.values()].sort(bySerial)
  return all.slice(-MAX_CALLS)
}

/** `calls` preceded by a page of older ones, without duplicates, oldest first. */
export function withOlder(calls: readonly CallRecord[], older: readonly CallRecord[]): CallRecord[] {
  if (older.length === 0) return [...calls]
  const known = new Set(calls.map(({ serial }) => serial))
  return [...older.filter(call => !known.has(call.serial)), ...calls].sort(bySerial)
}

/** The end of a serial, to tell calls apart on the page. */
export function shortSerial(serial: string): string {
  return serial.slice(-6)
}

/** Serials sort by time. */
function bySerial(a: CallRecord, b: CallRecord): number {
  return a.serial < b.serial ? -1 : 1
}

/** The list with a call's progress; finished and unknown calls stay unchanged. */
export function withProgress(calls: readonly CallRecord[], serial: string, progress: Progress): CallRecord[] {
  return calls.map(call => (call.serial === serial && !call.result ? { ...call, progress } : call))
}

export interface CallFilter {
  tool?: string | undefined
  source?: string | undefined
  caller?: string | undefined
  origin?: string | undefined
  /** Words that must all occur in tool, arguments, result or error. */
  q?: string | undefined
  /** `15m`, `1h`, `7d` …, or a date and time as a browser writes it. */
  since?: string | undefined
  until?: string | undefined
  trace?: string | undefined
  /** An outcome, or `slow`. */
  outcome?: string | undefined
}

export function filterCalls(
  calls: readonly CallRecord[],
  filter: CallFilter,
  now = Date.now(),
): CallRecord[] {
  const { tool, source, caller, origin, outcome, trace } = filter
  const since = timeOf(filter.since, now)
  const until = timeOf(filter.until, now)
  const words = wordsOf(filter.q ?? '')
  return calls.filter(
    call =>
      (tool === undefined || call.tool === tool) &&
      (source === undefined || call.source === source) &&
      (caller === undefined || call.caller === caller) &&
      (origin === undefined || call.origin === origin) &&
      (since === undefined || call.startedAt >= since) &&
      (until === undefined || call.startedAt < until) &&
      (trace === undefined || traceOf(call) === trace) &&
      (outcome === undefined || (outcome === 'slow' ? call.slow : outcomeOf(call) === outcome)) &&
      (words.length === 0 || hasWords(call, words)),
  )
}

export function traceOf({ notes, traceId }: CallRecord): string | undefined {
  return typeof notes?.trace_id === 'string' ? notes.trace_id : traceId
}

const UNITS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/** `1h` ago, or a date and time; `undefined` if it is neither. */
export function timeOf(text: string | undefined, now: number): number | undefined {
  const [, amount, unit = ''] = /^(\d{1,9})([smhdw])$/.exec(text ?? '') ?? []
  if (amount !== undefined) return now - Number(amount) * (UNITS[unit] ?? 0)
  const time = Date.parse(text ?? '')
  return Number.isNaN(time) ? undefined : time
}

/** Like the gateway's history search: each word matches a prefix. */
function wordsOf(text: string): string[] {
  const plain = text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
  return plain.split(/[^\p{L}\p{N}]+/u).filter(word => word !== '')
}

function hasWords({ tool, args, result }: CallRecord, wanted: readonly string[]): boolean {
  const outcome = result?.success ? result.result : result?.error
  const words = wordsOf(`${tool} ${shortJson(args, 20_000)} ${shortJson(outcome, 20_000)}`)
  return wanted.every(one => words.some(word => word.startsWith(one)))
}

function outcomeOf({ result }: CallRecord): string {
  if (result === undefined) return 'running'
  return result.success ? 'succeeded' : 'failed'
}

/** Why the recorded arguments cannot be sent again unchanged; `undefined` if they can. */
export function obstacleToRepeat(args: unknown): string | undefined {
  if (isShortened(args)) return 'The arguments were too large to keep.'
  try {
    const text = JSON.stringify(args) ?? ''
    if (SHORTENED.test(text)) return 'The arguments were too large to keep in full.'
    if (text.includes('"[removed]"')) return 'Secrets were removed from the arguments: fill them in again.'
  } catch {
    return 'The arguments are nested too deeply to send again.'
  }
  return undefined
}

/** What the gateway writes in place of what it cut from a long string, a long list, or a deep value. */
const SHORTENED = /… \(\d+ characters\)"|"… \d+ more"|"…":"\d+ more"|"\[…\]"/

function isShortened(args: unknown): boolean {
  if (typeof args === 'string') return /shortened, (?:more than )?\d+ bytes/.test(args)
  return isRecord(args) && Object.keys(args).length === 1 && '…' in args
}
