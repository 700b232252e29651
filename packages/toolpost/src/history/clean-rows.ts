import { safeText, safeValue } from '../logging/safe-value.ts'
import { isRecord } from '../runtime/guards.ts'
import { ABSENT, type Batch, CLEAN, cleanText, NUMBERS, PLAIN, type Rest } from './call-batch.ts'
import { MAX_ERROR, MAX_NAME } from './limits.ts'
import type { CallRow } from './stored-call.ts'

/** The calls of a batch as rows of the file: shortened and without secrets, as in a log. */
export function cleanRows(batch: Batch): CallRow[] {
  const names = [...batch.names.keys()]
  let at = 0
  const next: NextValue = kind => (kind === ABSENT ? undefined : { kind, value: batch.values[at++] })
  return Array.from({ length: batch.calls }, (_, index) => cleanRow(batch, index, { names, next }))
}

interface Kept {
  kind: number | undefined
  value: unknown
}

type NextValue = (kind: number | undefined) => Kept | undefined

function cleanRow(
  { numbers, servers, firstSerial }: Batch,
  index: number,
  { names, next }: { names: readonly string[]; next: NextValue },
): CallRow {
  const [serial = 0, time = 0, duration = 0, waited = 0, tool = 0, origin = 0, caller = 0, ...more] =
    numbers.subarray(index * NUMBERS, (index + 1) * NUMBERS)
  const [found, fitted, ...kinds] = more
  const [id, args, outcome, rest] = kinds.map(next)
  const { code, repairs, notes = {} } = restOf(rest)
  const { rule, approval, trace_id } = notes
  return {
    serial: firstSerial + serial,
    time,
    tool: named(names[tool]) ?? '',
    server: named(servers.get(names[tool] ?? '')),
    origin: named(names[origin]) ?? '',
    caller: named(names[caller]),
    call_id: named(id?.value),
    args: cleaned(args),
    result: code === undefined ? cleaned(outcome) : null,
    error: code === undefined ? null : errorIn(outcome),
    code: named(code),
    success: code === undefined ? 1 : 0,
    duration_ms: duration,
    waited_ms: waited,
    repairs: repairs === undefined ? null : cleanText(repairs),
    rule: named(rule),
    approval: approval === undefined ? null : cleanText(approval),
    trace_id: named(trace_id),
    found_ms: momentOf(found),
    fitted_ms: momentOf(fitted),
  }
}

/** Rounded to microseconds: anything finer is noise. */
function momentOf(ms: number | undefined): number | null {
  return ms !== undefined && Number.isFinite(ms) ? Math.round(ms * 1_000) / 1_000 : null
}

function named(value: unknown): string | null {
  if (value === undefined || value === null || value === '') return null
  return safeText(typeof value === 'string' ? value : String(safeValue(value)), MAX_NAME)
}

/** The JSON of a value, without secrets. */
function cleaned(kept: Kept | undefined): string | null {
  if (!kept) return null
  return kept.kind === CLEAN ? String(kept.value) : cleanText(givenValue(kept))
}

function givenValue({ kind, value }: Kept): unknown {
  return kind === PLAIN ? value : JSON.parse(String(value))
}

/** An error is stored as plain text, not as JSON. */
function errorIn(kept: Kept | undefined): string | null {
  const json = cleaned(kept)
  return json === null ? null : safeText(String(JSON.parse(json)), MAX_ERROR)
}

function restOf(kept: Kept | undefined): Rest {
  const rest = kept && givenValue(kept)
  return isRecord(rest) ? (rest as Rest) : {}
}
