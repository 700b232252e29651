import type { ToolExecutor, ToolFailure, ToolResult } from 'toolpost'
import { workerOf } from '../workers/identity.ts'

/** Larger results are stored as the text a model would read. */
const MAX_RESULT_BYTES = 1_000_000

/** A result as it is journalled: plain data within bounds. Never throws. */
export function keptResult(result: ToolResult, executor: ToolExecutor): ToolResult {
  const whole = jsonOf(result)
  if (whole !== undefined && Buffer.byteLength(whole) <= MAX_RESULT_BYTES) return JSON.parse(whole)
  const { tool_name, execution_time_ms, tool_call_id } = result
  const base = { tool_name, execution_time_ms, ...(tool_call_id !== undefined && { tool_call_id }) }
  const text = executor.text(result).slice(0, MAX_RESULT_BYTES)
  if (!result.success) return { success: false, error: text, code: result.code, ...base }
  return { success: true, result: text, ...base }
}

/** Puts `success` first, which the SQL relies on. */
function jsonOf(result: ToolResult): string | undefined {
  try {
    const { success, ...rest } = result
    return JSON.stringify({ success, ...rest })
  } catch {
    return undefined
  }
}

export function failed(
  tool: string,
  failure: Pick<ToolFailure, 'code' | 'error'>,
  runId?: string,
): ToolFailure {
  const { code, error } = failure
  return {
    ...{ success: false, error, code, tool_name: tool, execution_time_ms: 0 },
    ...(runId !== undefined && { run_id: runId }),
  }
}

export function unavailable(tool: string, cause: string, runId?: string): ToolFailure {
  return failed(tool, { code: 'unavailable', error: `The ${tool} service is unavailable: ${cause}` }, runId)
}

/** The result of a call that must not be started again; the journalled `intent` names the process that started it. */
export function unknownOutcome(tool: string, intent: string): ToolFailure {
  const worker = workerOf(intent.slice(0, intent.lastIndexOf('/')))
  return unavailable(
    tool,
    `worker '${worker}' was lost while running the call; the outcome of the call is unknown`,
  )
}

export function cancelled(tool: string, runId?: string): ToolFailure {
  return failed(tool, { code: 'cancelled', error: `Tool '${tool}' was cancelled` }, runId)
}

export function denied(tool: string, reason: string, runId?: string): ToolFailure {
  return failed(tool, { code: 'denied', error: `Tool '${tool}' was denied: ${reason}` }, runId)
}

export function nobodyOffers(pool: string, since: string | undefined): string {
  const text = `no worker of pool '${pool}' runs it`
  return since === undefined ? text : `${text}, since ${since}`
}
