import type { FailureCode } from '../call/failure-codes.ts'
import type { ToolResult } from '../call/tool-result.ts'
import type { Logger } from '../logging/logger.ts'
import { safeName, safeText, safeValue } from '../logging/safe-value.ts'
import { describeThrown } from '../runtime/quietly.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import type { Attempt } from './attempt.ts'

const MAX_NAMES = 50

const FAILURE_LEVELS: Record<FailureCode, 'info' | 'warn' | 'error'> = {
  unknown_tool: 'warn',
  invalid_arguments: 'warn',
  cancelled: 'info',
  denied: 'warn',
  limited: 'warn',
  invalid_schema: 'error',
  timeout: 'error',
  unavailable: 'error',
  tool_error: 'error',
}

/** Logs a call: `{tool, call_id, args, duration_ms, result}`, or `code` and `error` instead of `result`. */
export function logCall(
  logger: Logger,
  attempt: Attempt,
  result: ToolResult,
  { tools, slowMs }: { tools: ToolManager; slowMs: number },
): void {
  const { id, args } = attempt
  logSlow(logger, attempt, result, slowMs)
  const level = result.success ? 'info' : FAILURE_LEVELS[result.code]
  if (!logger.isLevelEnabled(level)) return
  const record: Record<string, unknown> = {
    tool: safeName(result.tool_name),
    call_id: safeValue(id),
    args: safeValue(args),
    duration_ms: result.execution_time_ms,
  }
  const { caller, origin } = attempt.options
  if (origin !== undefined) record.origin = safeText(origin)
  if (caller !== undefined) record.caller = safeText(caller)
  if (result.waited_ms) record.waited_ms = result.waited_ms
  if (attempt.notes) record.notes = safeValue(attempt.notes)
  if (result.repairs) record.repairs = safeValue(result.repairs)
  if (result.success) {
    record.result = safeValue(result.result)
    return logger.info(record, 'Tool call')
  }
  const { code, error, diagnosis } = result
  const why = {
    ...(diagnosis && { diagnosis: safeValue(diagnosis) }),
    ...(code === 'unknown_tool' && {
      available: (attempt.options.among ?? tools.getTools())
        .slice(0, MAX_NAMES)
        .map(({ name }) => safeText(name)),
    }),
  }
  logger[level]({ ...record, code, error: safeText(error), ...why }, `Tool call failed: ${code}`)
}

export function logRepairs(logger: Logger, { id, name, repairs }: Attempt): void {
  logger.info({ tool: name, call_id: id, repairs }, 'Arguments repaired')
}

function logSlow(logger: Logger, { name, waitedMs }: Attempt, result: ToolResult, slowMs: number): void {
  const tookMs = result.execution_time_ms - waitedMs
  if (tookMs <= slowMs) return
  const tool = safeText(name)
  logger.warn({ tool, duration_ms: tookMs }, `Slow tool: ${tool} took ${Math.round(tookMs)} ms`)
}

/** Logs a problem that did not affect the result of the call. */
export function logMishap(logger: Logger, { id, name }: Attempt, message: string, error?: unknown): void {
  const cause = error === undefined ? {} : { error: safeText(describeThrown(error)) }
  logger.warn({ tool: safeText(name), call_id: id, ...cause }, message)
}
