import type { ToolCall } from '../call/tool-call.ts'
import type { ToolResult } from '../call/tool-result.ts'
import type { ToolExecutor } from '../executor/executor.ts'
import { type CallerOptions, callerOptions } from '../executor/options.ts'
import { innerCall } from '../tools/search/search-tools.ts'
import type { Tool } from '../tools/tool.ts'
import { type Clock, systemClock } from '../util/clock.ts'
import { describeThrown } from '../util/quietly.ts'
import type { CallNotice } from './ai-client.ts'
import { type NumberedCall, placeholder } from './conversation.ts'

export interface CallContext extends CallerOptions {
  executor: ToolExecutor
  /** What the model was offered; any other tool counts as unknown. */
  tools: readonly Tool[]
  /** Tools outside the manager. */
  helpers?: readonly Tool[] | undefined
  /** The text of a result for the model; the executor's if left out. */
  textOf?: ((result: ToolResult) => Promise<string>) | undefined
  signal: AbortSignal
  /** Must not throw. */
  onCall: (notice: CallNotice) => void
  clock?: Clock | undefined
}

/** A result and its text for the model. */
export interface CallOutcome {
  result: ToolResult
  content: string
}

/** Runs the calls of one turn in parallel. Resolves to their outcomes, in order; never rejects. */
export function runCalls(calls: readonly NumberedCall[], context: CallContext): Promise<CallOutcome[]> {
  const { executor, tools: among, helpers: also, signal, onCall, clock = systemClock } = context
  const { textOf = async (result: ToolResult) => executor.text(result) } = context
  const options = { ...callerOptions(context), signal, repair: true, among, also }
  return Promise.all(
    calls.map(async given => {
      const { id, name, args } = also?.length ? innerCall(given) : given
      const call: ToolCall = { id, name, args }
      const startedAt = clock.now()
      onCall({ type: 'start', call })
      const outcome = await executor.run(call, options).then(
        async result => ({ result, content: await textOf(result) }),
        error => withoutResult(call, error),
      )
      onCall({ type: 'end', call, result: outcome.result, durationMs: clock.now() - startedAt })
      return outcome
    }),
  )
}

/** Our executor never rejects, but someone else's might, and every call needs a result. */
function withoutResult({ id = '', name }: ToolCall, cause: unknown): CallOutcome {
  const content = placeholder(name, describeThrown(cause))
  const error = content.slice('Error: '.length)
  const about = { tool_name: name, tool_call_id: id, execution_time_ms: 0 }
  return { result: { success: false, error, code: 'tool_error', ...about }, content }
}
