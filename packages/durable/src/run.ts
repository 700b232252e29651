import { createHash } from 'node:crypto'
import type { Progress, RunOptions, ToolCall, ToolExecutor, ToolFailure, ToolResult } from 'toolpost'
import type { Approval } from 'toolpost/interceptors'
import type { Run, RunState } from 'toolpost/project'
import { safeValue } from 'toolpost/terminal'

/**
 * `queue`: the pool and server of its tool. `repeatable`: read-only or idempotent, so it may be executed again after a crash.
 * `call`: all that another process needs to execute it. `deaths`: how many workers died with it.
 */
export interface RunRow
  extends Record<'id' | 'tool' | 'pool' | 'queue' | 'call_hash', string>,
    Record<'caller' | 'origin' | 'key' | 'worker' | 'approved_by', string | null>,
    Record<'started_at' | 'intent_at' | 'ended_at', Date | null> {
  call: Pick<ToolCall, 'id' | 'args'> & Pick<RunOptions, 'timeoutMs' | 'repair' | 'meta'>
  repeatable: boolean
  state: RunState
  attempt: number
  deaths: number
  approval: Approval | null
  progress: Progress | null
  result: ToolResult | null
  created_at: Date
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
  const { id, tool, state, attempt, pool, caller, origin, key, approval, created_at: accepted } = row
  const { started_at: started, intent_at: intent, ended_at: ended, worker: process } = row
  const worker = process === null ? undefined : workerOf(process)
  const asked = approval && new Date(approval.askedAt)
  const steps = Object.entries({ accepted, asked, started, intent, ended }).flatMap(([name, at]) =>
    at ? [{ name, at: at.toISOString(), worker: /started|ended/.test(name) ? worker : undefined }] : [],
  )
  return {
    id,
    tool,
    args: safeValue(row.call.args ?? {}),
    state,
    pool,
    worker,
    steps,
    caller: caller ?? undefined,
    origin: origin ?? undefined,
    key: key ?? undefined,
    attempts: started || ended ? attempt : attempt - 1,
    created_at: accepted.toISOString(),
    started_at: started?.toISOString(),
    ended_at: ended?.toISOString(),
    progress: (state === 'running' && row.progress) || undefined,
    result: resultOf(row),
  }
}

/** The stable id within the name of a process. */
const workerOf = (process: string) => process.slice(0, process.lastIndexOf('~'))

/** The result of a run that has ended; `undefined` if it has not, or its result was left out of a list. */
export function resultOf({ id, tool, state, result }: RunRow): ToolResult | undefined {
  if (state === 'cancelled') return { ...cancelled(tool), run_id: id }
  return result === null ? undefined : { ...result, run_id: id }
}

/** A result as it is journalled; one that is not JSON becomes the text for a model. */
export function journalled(result: ToolResult, executor: ToolExecutor): string {
  try {
    return JSON.stringify(result)
  } catch {
    const { success, tool_name, execution_time_ms } = result
    return JSON.stringify({ success, result: executor.text(result), tool_name, execution_time_ms })
  }
}

export function failed(code: ToolFailure['code'], tool: string, error: string): ToolFailure {
  return { success: false, error, code, tool_name: tool, execution_time_ms: 0 }
}

export const cancelled = (tool: string) => failed('cancelled', tool, `Tool '${tool}' was cancelled`)
export const denied = (tool: string, why: string) =>
  failed('denied', tool, `Tool '${tool}' was denied: ${why}`)
export const unavailable = (tool: string, why: string) =>
  failed('unavailable', tool, `The ${tool} service is unavailable: ${why}`)

/** Of a run whose worker was lost after the intent to invoke the tool. */
export function unknown({ tool, worker }: RunRow): ToolFailure {
  const lost = `worker '${workerOf(worker ?? '')}' was lost while running the call`
  return unavailable(tool, `${lost}; the outcome of the call is unknown`)
}

export function nobodyRuns(tool: string, pool: string, since?: Date | null): ToolFailure {
  const when = since ? `, since ${since.toISOString()}` : ''
  return unavailable(tool, `no worker of pool '${pool}' runs it${when}`)
}
