import type { ToolCall } from '../call/tool-call.ts'
import type { ToolResult } from '../call/tool-result.ts'
import { logCall } from '../executor/call-log.ts'
import { unknownTool } from '../executor/failure.ts'
import { similarNames } from '../executor/find-tool.ts'
import type { ToolExecutor } from '../executor/tool-executor.ts'
import type { Logger } from '../logging/logger.ts'
import { type Clock, systemClock } from '../runtime/clock.ts'
import type { Tool } from '../tools/tool.ts'
import type { CallNotice } from './ai-client.ts'
import { type NumberedCall, placeholder } from './conversation.ts'

export interface CallContext {
  executor: ToolExecutor
  /** Calls of other tools are calls of unknown tools. */
  tools: readonly Tool[]
  signal: AbortSignal
  logger: Logger
  onCall: (event: CallNotice) => void
  origin?: string | undefined
  clock?: Clock | undefined
}

/** A result, and what the model reads of it. */
export interface CallOutcome {
  result: ToolResult
  content: string
}

/** Runs the calls of one turn side by side. Gives an outcome for each, in their order; never rejects. */
export function runCalls(calls: readonly NumberedCall[], context: CallContext): Promise<CallOutcome[]> {
  return Promise.all(calls.map(call => runCall(call, context)))
}

async function runCall({ id, name, args }: NumberedCall, context: CallContext): Promise<CallOutcome> {
  const { executor, onCall, clock = systemClock } = context
  const call: ToolCall = { id, name, args }
  const startedAt = clock.now()
  onCall({ type: 'start', call })
  const outcome = await perform(call, context).then(
    result => ({ result, content: executor.text(result) }),
    error => withoutResult(call, error),
  )
  onCall({ type: 'end', call, result: outcome.result, durationMs: clock.now() - startedAt })
  return outcome
}

async function perform(
  call: ToolCall,
  { executor, tools, signal, logger, origin }: CallContext,
): Promise<ToolResult> {
  if (isOffered(call.name, tools))
    return executor.run(call, { signal, repair: true, ...(origin !== undefined && { origin }) })
  const result = notOffered(call, tools)
  logCall(logger, call, result, () => tools.map(tool => tool.name))
  return result
}

function isOffered(name: string, tools: readonly Tool[]): boolean {
  return tools.some(tool => tool.name === name || tool.lc_name === name)
}

function notOffered({ id, name }: ToolCall, tools: readonly Tool[]): ToolResult {
  const names = tools.map(tool => tool.name)
  const { code, error, diagnosis } = unknownTool(name, similarNames(name, names))
  return {
    success: false,
    error,
    code,
    tool_name: name,
    execution_time_ms: 0,
    ...(id !== undefined && { tool_call_id: id }),
    ...(diagnosis && { diagnosis }),
  }
}

/** An executor does not reject; one that somebody else wrote might, and every call needs its answer. */
function withoutResult({ id = '', name }: ToolCall, error: unknown): CallOutcome {
  const reason = error instanceof Error ? error.message : String(error)
  const content = placeholder(name, reason)
  const result: ToolResult = {
    success: false,
    error: content.slice('Error: '.length),
    code: 'tool_error',
    tool_name: name,
    execution_time_ms: 0,
    tool_call_id: id,
  }
  return { result, content }
}
