import type { ToolCall } from '../../call/tool-call.ts'
import type { ToolResult } from '../../call/tool-result.ts'
import { cancelled, unavailable } from '../../executor/failure.ts'
import type { RunOptions } from '../../executor/options.ts'
import { refusal } from '../../interceptors/refuse.ts'
import type { Client } from '../client.ts'
import { type DurableSource, KEY_META, keyProblem, offText } from '../durable-wish.ts'
import type { ClientHelp } from './client-call.ts'

/** Whether an MCP call has an idempotency key. */
export function wantsRun(meta: RunOptions['meta']): boolean {
  return meta?.[KEY_META] !== undefined
}

/**
 * An MCP call with an idempotency key. It ends if its client cancels it; if the client only disconnects, it continues,
 * and the client may return with the same key.
 */
export async function durableResult(
  call: ToolCall,
  { signal, onRun, ...options }: RunOptions & Pick<ClientHelp, 'onRun'> & { signal: AbortSignal },
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
  onRun?.(id)
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

/** A cancellation by the client has a string as its reason; a broken connection has an error. */
function isCancelled({ reason }: AbortSignal): boolean {
  return typeof reason === 'string'
}

/** The call behind a durable run with a key, if it is that client's: it can be awaited again. */
export async function callOfRun(
  id: string,
  client: Client | undefined,
  source: DurableSource | undefined,
): Promise<{ name: string; args: Record<string, unknown>; key: string } | undefined> {
  const runs = source?.durable?.()
  try {
    const run = await runs?.durable.get(id)
    if (!runs || run?.key === undefined || run.origin !== 'mcp' || run.caller !== client?.caller)
      return undefined
    const found = await runs.durable.callOf(id)
    return found && { name: runs.nameOf(run), args: found.call.args as Record<string, unknown>, key: run.key }
  } catch {
    // The database is unreachable, and so is the task, for now.
    return undefined
  }
}
