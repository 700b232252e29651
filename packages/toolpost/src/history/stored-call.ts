import type { FailureCode } from '../call/failure-codes.ts'
import type { ToolResult } from '../call/tool-result.ts'

/** An ended call, as the history returns it. Plain data, shortened, without secrets. */
export interface StoredCall {
  /** Increases from call to call, even across restarts. Two processes on one file may assign the same number. */
  serial: number
  /** The caller's own id. */
  id?: string
  tool: string
  /** `local`, or the name of the tool's server. */
  source: string
  /** Where it came from: `http`, `mcp`, `chat` … */
  origin: string
  /** Who made the call, if known. */
  caller?: string
  args: unknown
  /** Milliseconds since 1970. */
  startedAt: number
  durationMs: number
  /** When its tool was found and its arguments fitted, in milliseconds since the start, if it got that far. */
  stages?: { foundMs: number; fittedMs: number }
  result: ToolResult
  /** The policy's rule, the approval and the trace, if there were any. */
  rule?: string
  approval?: unknown
  traceId?: string
}

/** The columns of a call in the file. */
export const COLUMNS = [
  'serial',
  'time',
  'tool',
  'server',
  'origin',
  'caller',
  'call_id',
  'args',
  'result',
  'error',
  'code',
  'success',
  'duration_ms',
  'waited_ms',
  'repairs',
  'rule',
  'approval',
  'trace_id',
  'found_ms',
  'fitted_ms',
] as const

type Text = string | null

/**
 * A row of the file: a value for each of COLUMNS. `args`, `result`, `repairs` and `approval` are JSON. In a file of an
 * older Toolpost, the last columns are missing until it is written to.
 */
export interface CallRow extends Record<(typeof COLUMNS)[number], string | number | null | undefined> {
  serial: number
  time: number
  tool: string
  server: Text
  origin: string
  caller: Text
  call_id: Text
  args: Text
  result: Text
  error: Text
  code: Text
  success: number
  duration_ms: number
  waited_ms: number
  repairs: Text
  rule: Text
  approval: Text
  trace_id: Text
  found_ms: number | null | undefined
  fitted_ms: number | null | undefined
}

export function storedCall(row: CallRow): StoredCall {
  const call: StoredCall = {
    serial: row.serial,
    tool: row.tool,
    source: row.server ?? 'local',
    origin: row.origin,
    args: parsed(row.args),
    startedAt: row.time,
    durationMs: row.duration_ms,
    result: resultOf(row),
  }
  if (row.call_id !== null) call.id = row.call_id
  if (row.found_ms != null && row.fitted_ms != null)
    call.stages = { foundMs: row.found_ms, fittedMs: row.fitted_ms }
  if (row.caller !== null) call.caller = row.caller
  if (row.rule !== null) call.rule = row.rule
  if (row.approval !== null) call.approval = parsed(row.approval)
  if (row.trace_id !== null) call.traceId = row.trace_id
  return call
}

function resultOf(row: CallRow): ToolResult {
  const common = {
    tool_name: row.tool,
    execution_time_ms: row.duration_ms,
    ...(row.call_id !== null && { tool_call_id: row.call_id }),
    ...(row.waited_ms > 0 && { waited_ms: row.waited_ms }),
    ...(row.repairs !== null && { repairs: parsed(row.repairs) as string[] }),
  }
  if (row.success) return { success: true, result: parsed(row.result), ...common }
  return { success: false, error: row.error ?? '', code: row.code as FailureCode, ...common }
}

function parsed(text: string | null): unknown {
  if (text === null) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
