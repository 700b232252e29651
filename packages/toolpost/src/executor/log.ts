import type { FailureCode } from '../call/failure-codes.ts'
import type { ToolResult } from '../call/tool-result.ts'
import { silentLogger } from '../logging/logger.ts'
import { safeText, safeValue } from '../logging/safe-value.ts'
import type { CallContext } from './context.ts'

const MAX_NAMES = 50

const FAILURE_LEVELS: Partial<Record<FailureCode, 'info' | 'warn'>> = {
  unknown_tool: 'warn',
  invalid_arguments: 'warn',
  cancelled: 'info',
  denied: 'warn',
  limited: 'warn',
}

/** Logs a call: `{tool, call_id, args, duration_ms, result}`, or `code` and `error` instead of `result`. */
export function logCall(context: CallContext, result: ToolResult, slowMs: number): void {
  const { logger, tools } = context.services
  if (logger === silentLogger) return
  const tool = safeText(context.name)
  const tookMs = result.execution_time_ms - context.waitedMs
  if (tookMs > slowMs)
    logger.warn({ tool, duration_ms: tookMs }, `Slow tool: ${tool} took ${Math.round(tookMs)} ms`)
  const level = result.success ? 'info' : (FAILURE_LEVELS[result.code] ?? 'error')
  if (!logger.isLevelEnabled(level)) return
  const { id, given, origin, caller, options } = context
  const record: Record<string, unknown> = {
    tool,
    call_id: safeValue(id),
    args: safeValue(given),
    duration_ms: result.execution_time_ms,
  }
  if (origin !== undefined) record.origin = safeText(origin)
  if (caller !== undefined) record.caller = safeText(caller)
  if (result.waited_ms) record.waited_ms = result.waited_ms
  if (context.noted) record.notes = safeValue(context.noted)
  if (result.repairs) record.repairs = safeValue(result.repairs)
  if (result.diagnosis) record.diagnosis = safeValue(result.diagnosis)
  if (result.success) return logger.info({ ...record, result: safeValue(result.result) }, 'Tool call')
  const { code, error } = result
  if (code === 'unknown_tool')
    record.available = (options.among ?? tools.getTools())
      .slice(0, MAX_NAMES)
      .map(({ name }) => safeText(name))
  logger[level]({ ...record, code, error: safeText(error) }, `Tool call failed: ${code}`)
}
