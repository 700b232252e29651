import type { ToolCall } from '../../call/tool-call.ts'
import type { ToolResult } from '../../call/tool-result.ts'
import { cancelled, unavailable } from '../../executor/failure.ts'
import type { RunOptions } from '../../executor/options.ts'
import { refusal } from '../../interceptors/refuse.ts'
import { type DurableSource, KEY_META, keyProblem, offText } from '../durable-wish.ts'

/** Whether an MCP call brought an idempotency key. */
export function wantsRun(meta: RunOptions['meta']): boolean {
  return meta?.[KEY_META] !== undefined
}

/**
 * An MCP call with an idempotency key. It ends if its client says so; if that only goes away it goes on, and the client may
 * come again with the same key.
 */
export async function callDurably(
  call: ToolCall,
  { signal, ...options }: RunOptions & { signal: AbortSignal },
  source: DurableSource | undefined,
): Promise<ToolResult> {
  const { [KEY_META]: key, ...meta } = options.meta ?? {}
  const problem = keyProblem(key)
  if (problem)
    return refusal(call, 'invalid_arguments', `Invalid parameters: '_meta.${KEY_META}': ${problem}`)
  const runs = source?.durable?.()
  if (!runs) {
    const { code, error } = unavailable(call.name, source ? offText(source) : 'durable calls are off')
    return refusal(call, code, error)
  }
  const accepted = await runs.accept(call, { ...options, meta, key: key as string })
  if ('refused' in accepted) return accepted.refused
  const { id, result } = accepted
  const gone = new Promise<ToolResult>(resolve => {
    const leave = () => {
      if (isCancelled(signal)) runs.durable.cancel(id).catch(() => {})
      const { code, error } = cancelled(call.name)
      resolve({ ...refusal(call, code, error), run_id: id })
    }
    signal.addEventListener('abort', leave, { once: true })
    if (signal.aborted) leave()
  })
  return Promise.race([result, gone])
}

/** A client that cancels gives its reason in words; a connection that breaks is an error. */
function isCancelled({ reason }: AbortSignal): boolean {
  return typeof reason === 'string'
}
