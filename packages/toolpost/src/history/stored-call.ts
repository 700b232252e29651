import type { ToolResult } from '../call/tool-result.ts'
import type { CallEvent } from '../executor/observers.ts'
import { plainCopy } from '../logging/plain-value.ts'
import { cleaner, safeText, safeValue } from '../logging/safe-value.ts'

/** An ended call, as the history keeps it. Plain data, shortened, without secrets. */
export interface StoredCall extends Pick<CallEvent, 'serial' | 'startedAt' | 'stages'> {
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
  durationMs: number
  result: ToolResult
  /** The policy's rule, the approval and the trace, if there were any. */
  rule?: string
  approval?: unknown
  traceId?: string
}

const MAX_NAME = 200
const MAX_ERROR = 4_000
/** Values up to this size are kept whole, except for secrets, so that the call can be repeated. */
const WHOLE_BYTES = 16 * 1024

/** What is kept of an ended call. */
export function storedCall(event: CallEvent): StoredCall {
  const { serial, call, startedAt, notes = {}, stages, origin = 'code', caller, server = 'local' } = event
  const { execution_time_ms, waited_ms, repairs, ...result } = event.result as ToolResult
  const [tool, id] = [nameOf(call.name) ?? '', nameOf(call.id)]
  const outcome = result.success
    ? { success: true, result: plainValue(result.result), handle: result.handle }
    : { success: false, error: safeText(String(result.error), MAX_ERROR), code: result.code }
  const common = { tool_name: tool, execution_time_ms, tool_call_id: id, waited_ms }
  return {
    serial,
    id,
    tool,
    source: nameOf(server),
    origin: nameOf(origin),
    caller: nameOf(caller),
    args: plainValue(call.args),
    startedAt,
    durationMs: execution_time_ms,
    stages,
    result: { ...outcome, ...common, repairs: repairs && plainValue(repairs) },
    rule: nameOf(notes.rule),
    approval: notes.approval && plainValue(notes.approval),
    traceId: nameOf(notes.trace_id),
  } as unknown as StoredCall
}

function nameOf(value: unknown): string | undefined {
  if (value === undefined) return undefined
  return safeText(typeof value === 'string' ? value : String(safeValue(value)), MAX_NAME)
}

/** Plain data without secrets; a large value is shortened as in a log. */
export function plainValue(value: unknown, maxBytes = WHOLE_BYTES): unknown {
  const limits = { maxDepth: 64, maxEntries: maxBytes, maxValues: maxBytes / 8, maxBytes, cleaner }
  const copy = plainCopy(value, limits)
  return copy.isComplete && copy.bytes <= maxBytes ? copy.value : safeValue(value)
}

export function jsonLines(calls: readonly StoredCall[]): string {
  return calls.map(call => `${JSON.stringify(call)}\n`).join('')
}
