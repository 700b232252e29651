import type { ToolResult } from '../call/tool-result.ts'
import type { CallEvent, CallStage } from '../executor/observers.ts'
import { cleaner, safeText, safeValue } from '../logging/safe-value.ts'
import { type PlainLimits, plainCopy } from '../runtime/plain-value.ts'

/** An ended call, as the history keeps it. Plain data, shortened, without secrets. */
export interface StoredCall {
  /** A UUIDv7: unique across processes and restarts, and sorts by the time of the call. */
  serial: string
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
  /** Where its time went, in order. */
  stages?: CallStage[]
  result: ToolResult
  /** The policy's rule, the approval and the trace, if there were any. */
  rule?: string
  approval?: unknown
  traceId?: string
}

const MAX_NAME = 200
const MAX_ERROR = 4_000

/** What is kept of an ended call. */
export function storedCall(event: CallEvent, server: string | undefined): StoredCall {
  const { serial, call, origin, caller, startedAt, notes = {}, stages } = event
  const result = event.result as ToolResult
  const id = call.id === undefined ? undefined : nameOf(call.id)
  const tool = nameOf(call.name)
  const common = {
    tool_name: tool,
    execution_time_ms: result.execution_time_ms,
    ...(id !== undefined && { tool_call_id: id }),
    ...(result.waited_ms && { waited_ms: result.waited_ms }),
    ...(result.repairs && { repairs: plainValue(result.repairs) as string[] }),
  }
  return {
    serial,
    ...(id !== undefined && { id }),
    tool,
    source: nameOf(server ?? 'local'),
    origin: nameOf(origin ?? 'code'),
    ...(caller && { caller: nameOf(caller) }),
    args: plainValue(call.args),
    startedAt,
    durationMs: result.execution_time_ms,
    ...(stages && { stages }),
    result: result.success
      ? { success: true, result: plainValue(result.result), ...common }
      : { success: false, error: safeText(String(result.error), MAX_ERROR), code: result.code, ...common },
    ...(notes.rule !== undefined && { rule: nameOf(notes.rule) }),
    ...(notes.approval !== undefined && { approval: plainValue(notes.approval) }),
    ...(notes.trace_id !== undefined && { traceId: nameOf(notes.trace_id) }),
  }
}

function nameOf(value: unknown): string {
  return safeText(typeof value === 'string' ? value : String(safeValue(value)), MAX_NAME)
}

/** Values within these limits are kept whole, except for secrets, so that the call can be repeated. */
const WHOLE: PlainLimits = {
  maxDepth: 64,
  maxEntries: Number.POSITIVE_INFINITY,
  maxBytes: 16 * 1024,
  maxValues: 2_000,
  isWhole: true,
  cleaner,
}

/** Plain data without secrets; a large value is shortened as in a log. */
function plainValue(value: unknown): unknown {
  const copy = plainCopy(value, WHOLE)
  return copy.isComplete && copy.bytes <= WHOLE.maxBytes ? copy.value : safeValue(value)
}

const MAX_SNAPSHOT_VALUES = 100
const MAX_SNAPSHOT_DEPTH = 10
const CHARS_PER_VALUE = 100

/** A call of small plain data as it is now: its owner may change it before it is written. `undefined` for any other. */
export function snapshot(event: CallEvent, result: ToolResult): CallEvent | undefined {
  const { serial, call, origin, caller, startedAt, notes, stages } = event
  const left = { values: MAX_SNAPSHOT_VALUES }
  try {
    const args = plainNow(call.args, MAX_SNAPSHOT_DEPTH, left)
    const kept = { ...result }
    if (kept.success) kept.result = plainNow(kept.result, MAX_SNAPSHOT_DEPTH, left)
    if (left.values < 0) return undefined
    const { id, name } = call
    return { serial, call: { id, name, args }, origin, caller, startedAt, notes, stages, result: kept }
  } catch {
    // A getter or a proxy threw.
    return undefined
  }
}

function plainNow(value: unknown, depth: number, left: { values: number }): unknown {
  if (typeof value === 'string') left.values -= value.length / CHARS_PER_VALUE
  if (typeof value !== 'object' || value === null) return value
  const prototype = Object.getPrototypeOf(value)
  const isPlain = prototype === Object.prototype || prototype === Array.prototype
  const keys = isPlain ? Object.keys(value) : []
  left.values -= isPlain && depth > 0 ? 1 + keys.length : Number.POSITIVE_INFINITY
  if (left.values < 0) return undefined
  const copy = (Array.isArray(value) ? [] : {}) as Record<string, unknown>
  for (const key of keys) copy[key] = plainNow((value as Record<string, unknown>)[key], depth - 1, left)
  return copy
}
