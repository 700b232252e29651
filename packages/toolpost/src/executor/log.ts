import type { FailureCode } from '../call/failure-codes.ts'
import type { ToolResult } from '../call/tool-result.ts'
import { safeText, safeValue } from '../logging/safe-value.ts'
import type { CallContext } from './context.ts'

/** The caller's own doing: warnings. Other failures are errors. */
const WARNINGS: readonly FailureCode[] = ['unknown_tool', 'invalid_arguments', 'denied', 'limited']

/** Logs a call: `{tool, call_id, args, duration_ms, result}`, or `code` and `error` instead of `result`. */
export function logCall(context: CallContext, result: ToolResult): void {
  const { logger, tools, slowMs } = context.services
  const { id, given, origin, caller, options, waitedMs, noted } = context
  const { execution_time_ms, waited_ms, repairs, diagnosis } = result
  const tool = safeText(context.name)
  const tookMs = execution_time_ms - waitedMs
  if (tookMs > slowMs)
    logger.warn({ tool, duration_ms: tookMs }, `Slow tool: ${tool} took ${Math.round(tookMs)} ms`)
  const isFine = result.success || result.code === 'cancelled'
  const level = isFine ? 'info' : WARNINGS.includes(result.code) ? 'warn' : 'error'
  if (!logger.isLevelEnabled(level)) return
  const about = { call_id: id, args: given, duration_ms: execution_time_ms, origin, caller, waited_ms }
  const record: Record<string, unknown> = { tool }
  for (const [key, value] of Object.entries({ ...about, notes: noted, repairs, diagnosis }))
    if (value !== undefined) record[key] = safeValue(value)
  if (result.success) return logger.info({ ...record, result: safeValue(result.result) }, 'Tool call')
  const { code, error } = result
  const offered = code === 'unknown_tool' ? (options.among ?? tools.getTools()) : undefined
  if (offered) record.available = offered.slice(0, 50).map(({ name }) => safeText(name))
  logger[level]({ ...record, code, error: safeText(error) }, `Tool call failed: ${code}`)
}
