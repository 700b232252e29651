import type { FailureCode } from '../call/failure-codes.ts'
import type { ToolCall } from '../call/tool-call.ts'
import type { ToolResult } from '../call/tool-result.ts'
import type { Logger } from '../logging/logger.ts'
import { safeName, safeText, safeValue } from '../logging/safe-value.ts'
import { describeThrown } from '../runtime/quietly.ts'
import type { Tool } from '../tools/tool.ts'

const MAX_NAMES = 50

const FAILURE_LEVELS: Record<FailureCode, 'info' | 'warn' | 'error'> = {
  unknown_tool: 'warn',
  invalid_arguments: 'warn',
  cancelled: 'info',
  invalid_schema: 'error',
  timeout: 'error',
  unavailable: 'error',
  tool_error: 'error',
}

/** Writes the record of a call: `{tool, call_id, args, duration_ms, result}`, or `code` and `error` for `result`. */
export function logCall(
  logger: Logger,
  { id, args }: Pick<ToolCall, 'id' | 'args'>,
  result: ToolResult,
  available: readonly Tool[],
): void {
  const level = result.success ? 'info' : FAILURE_LEVELS[result.code]
  if (!logger.isLevelEnabled(level)) return
  const record: Record<string, unknown> = {
    tool: safeName(result.tool_name),
    call_id: safeValue(id),
    args: safeValue(args),
    duration_ms: result.execution_time_ms,
  }
  if (result.repairs) record.repairs = safeValue(result.repairs)
  if (result.success) {
    record.result = safeValue(result.result)
    return logger.info(record, 'Tool call')
  }
  const { code, error, diagnosis } = result
  const why = {
    ...(diagnosis && { diagnosis: safeValue(diagnosis) }),
    // For the person who reads that a tool was not found: what there is.
    ...(code === 'unknown_tool' && {
      available: available.slice(0, MAX_NAMES).map(tool => safeText(tool.name)),
    }),
  }
  logger[level]({ ...record, code, error: safeText(error), ...why }, `Tool call failed: ${code}`)
}

export function logSlow(logger: Logger, name: string, durationMs: number): void {
  logger.warn(
    { tool: safeText(name), duration_ms: durationMs },
    `Slow tool: ${safeText(name)} took ${Math.round(durationMs)} ms`,
  )
}

/** What went wrong beside the way of a call, and changed nothing in its answer. */
export function logMishap(
  logger: Logger,
  { id, name, error }: { id: string | undefined; name: string; error?: unknown },
  message: string,
): void {
  const cause = error === undefined ? {} : { error: safeText(describeThrown(error)) }
  logger.warn({ tool: safeText(name), call_id: id, ...cause }, message)
}
