import { createHash } from 'node:crypto'
import type { Progress, RunOptions, ToolCall, ToolExecutor, ToolFailure, ToolResult } from 'toolpost'
import type { Approval } from 'toolpost/interceptors'
import { type Run, type RunState, safeValue } from 'toolpost/project'

/** Larger arguments are refused; larger results are stored as the text a model would read. */
const MAX_BYTES = 1_000_000

type Text = 'id' | 'tool' | 'pool' | 'queue' | 'call_hash'
type NullableText = 'caller' | 'origin' | 'key' | 'worker' | 'approved_by'

/**
 * `queue`: the pool and server of its tool. `repeatable`: read-only or idempotent, so it may be executed again after a crash.
 * `deaths`: how many workers died with it.
 */
export interface RunRow extends Record<Text, string>, Record<NullableText, string | null> {
  /** All that another process needs to execute it. */
  call: Pick<ToolCall, 'id' | 'args'> & Pick<RunOptions, 'timeoutMs' | 'repair' | 'meta'>
  repeatable: boolean
  state: RunState
  attempt: number
  deaths: number
  approval: Approval | null
  progress: Progress | null
  result: ToolResult | null
  created_at: Date
  started_at: Date | null
  intent_at: Date | null
  ended_at: Date | null
}

/** A value as it is journalled; `undefined` if it is not JSON or too large. */
export function jsonWithin(value: object): string | undefined {
  try {
    const text = JSON.stringify(value)
    return Buffer.byteLength(text) > MAX_BYTES ? undefined : text
  } catch {
    return undefined
  }
}

/** Equal for equal values, whatever the order of their keys. */
export function hashOf(value: unknown): string {
  const sorted = JSON.stringify(value, (_, inner: unknown) => {
    if (inner === null || typeof inner !== 'object' || Array.isArray(inner)) return inner
    return Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
  })
  return createHash('sha256').update(sorted).digest('hex')
}

/** A run as it is shown. */
export function runOf(row: RunRow): Run {
  const { id, tool, state, attempt, pool, approval, created_at, started_at, intent_at, ended_at } = row
  const iso = (at: Date | number | null | undefined) => (at ? new Date(at).toISOString() : undefined)
  const worker = row.worker === null ? undefined : workerOf(row.worker)
  const times = {
    accepted: created_at,
    asked: approval?.askedAt,
    started: started_at,
    intent: intent_at,
    ended: ended_at,
  }
  const steps = Object.entries(times).flatMap(([name, time]) => {
    const at = iso(time)
    return at ? [{ name, at, worker: name === 'started' || name === 'ended' ? worker : undefined }] : []
  })
  return {
    ...{ id, tool, args: safeValue(row.call.args ?? {}), state, pool, worker, steps },
    attempts: started_at || ended_at ? attempt : attempt - 1,
    ...{ caller: row.caller ?? undefined, origin: row.origin ?? undefined, key: row.key ?? undefined },
    ...{ created_at: created_at.toISOString(), started_at: iso(started_at), ended_at: iso(ended_at) },
    ...(state === 'running' && { progress: row.progress ?? undefined }),
    result: resultOf(row),
  }
}

/** The stable id within the name of a process. */
function workerOf(process: string): string {
  return process.slice(0, process.lastIndexOf('~'))
}

/** The result of a run that has ended; `undefined` if it has not, or its result was left out of a list. */
export function resultOf({ id, tool, state, result }: RunRow): ToolResult | undefined {
  if (state === 'cancelled') return failed('cancelled', tool, '', id)
  return result === null ? undefined : { ...result, run_id: id }
}

/** A result as it is journalled: plain data within bounds. */
export function keptResult(result: ToolResult, executor: ToolExecutor): string {
  const whole = jsonWithin(result)
  if (whole !== undefined) return whole
  const text = executor.text(result).slice(0, MAX_BYTES)
  const { tool_name, execution_time_ms } = result
  const said = result.success
    ? { success: true, result: text }
    : { success: false, error: text, code: result.code }
  return JSON.stringify({ ...said, tool_name, execution_time_ms })
}

const ERRORS = {
  cancelled: (tool: string) => `Tool '${tool}' was cancelled`,
  denied: (tool: string, reason: string) => `Tool '${tool}' was denied: ${reason}`,
  invalid_arguments: (_: string, problem: string) => problem,
  timeout: (tool: string, limit: string) => `Tool '${tool}' timed out after ${limit}`,
  unavailable: (tool: string, cause: string) => `The ${tool} service is unavailable: ${cause}`,
}

export function failed(code: keyof typeof ERRORS, tool: string, why = '', runId?: string): ToolFailure {
  const error = ERRORS[code](tool, why)
  const base = { success: false, error, code, tool_name: tool, execution_time_ms: 0 } as const
  return runId === undefined ? base : { ...base, run_id: runId }
}

/** Of a run whose worker was lost after the intent to invoke the tool. */
export function unknown({ tool, worker }: RunRow): ToolFailure {
  const lost = `worker '${workerOf(worker ?? '')}' was lost while running the call`
  return failed('unavailable', tool, `${lost}; the outcome of the call is unknown`)
}

export function nobodyRuns(tool: string, pool: string, since?: Date | null): ToolFailure {
  const text = `no worker of pool '${pool}' runs it`
  return failed('unavailable', tool, since ? `${text}, since ${since.toISOString()}` : text)
}
