import { setTimeout as delay } from 'node:timers/promises'
import type { ToolCall } from '../../call/tool-call.ts'
import type { ToolFailure, ToolResult } from '../../call/tool-result.ts'
import type { ToolExecutor } from '../../executor/executor.ts'
import { cancelled, unavailable } from '../../executor/failure.ts'
import type { RunOptions } from '../../executor/options.ts'
import { refusal } from '../../interceptors/refuse.ts'
import { INVALID_PARAMS, RpcError } from '../../mcp/peer.ts'
import { traceContext } from '../../telemetry/trace-context.ts'
import type { Ask } from '../../tools/caller.ts'
import type { BigResults } from '../../tools/results/big-results.ts'
import type { ResultOwner } from '../../tools/results/result-store.ts'
import type { Tool } from '../../tools/tool.ts'
import { isRecord } from '../../util/guards.ts'
import type { ActiveCalls } from '../active-calls.ts'
import type { Client } from '../clients.ts'
import { aborted, Disconnected, metaOf } from '../http.ts'
import { PROGRESS_GAP_MS } from '../limits.ts'
import { type DurableSource, keyProblem, offText } from '../routes/runs.ts'
import type { ClientHelp } from './client-call.ts'
import { isNewest, type McpRequest, MISSING_CAPABILITY, type Params } from './protocol.ts'
import { longAnswer, toolAnswer } from './tool-answer.ts'

export interface CallToolOptions {
  executor: ToolExecutor
  calls: ActiveCalls
  /** Makes calls durable, if that is available. */
  source?: DurableSource | undefined
  /** Asks the user if the client cannot show a question. */
  ask?: Ask | undefined
  /** Keeps results too long for a model. */
  results?: BigResults | undefined
}

/** A call, as the client intends it. */
export interface McpCall {
  name: string
  args: Params
  /** Tools outside the manager. */
  also: readonly Tool[]
  owner: ResultOwner
  help: ClientHelp
  caller: AbortController
  request: McpRequest
  /** The request that waits for it now. */
  current(): McpRequest | undefined
}

/** The idempotency key of an MCP call, in its `_meta`. */
const KEY_META = 'toolpost/idempotencyKey'

/** Runs a call; resolves to its result in MCP's format. */
export async function callTool(mcpCall: McpCall, options: CallToolOptions): Promise<object> {
  const { name, args, also, owner, help, caller, request } = mcpCall
  const { executor, calls, results } = options
  const { client } = request
  const newest = isNewest(request)
  if (calls.isDraining)
    return { isError: true, content: [{ type: 'text', text: 'Toolpost is shutting down' }] }
  const meta = metaOfCall(request)
  const progress = progressTo(mcpCall)
  const runOptions = {
    caller: client?.caller,
    among: client?.among(name),
    also,
    conversation: owner.conversation,
    origin: 'mcp',
    startedAt: request.startedAt,
    onProgress: progress.listener,
    meta,
    signal: caller.signal,
    peer: help.peer,
    ask: askOf(client, help.ask ?? options.ask),
    sample: help.sample,
    roots: help.roots,
    onLog: help.onLog,
    onTask: help.onTask,
    onAddresses: help.onAddresses,
  }
  const result = await calls.run(caller, () =>
    meta?.[KEY_META] === undefined
      ? executor.run({ name, args }, runOptions)
      : durableResult({ name, args }, runOptions, options.source),
  )
  if (progress.isRecent()) await delay(PROGRESS_GAP_MS)
  if (!result.success) throwRpcError(result, newest)
  await results?.keep(result, owner)
  const tool = executor.tools.findTool(name)
  const source = {
    isServer: tool !== undefined && executor.tools.originOf(tool) !== undefined,
    hasOutputSchema: tool?.outputSchema !== undefined,
    isNewest: newest,
  }
  const kept = results?.keptOf(result)
  if (!result.success || !kept) return toolAnswer(result, source)
  // Resource links came with the June 2025 protocol: older clients would reject the whole result.
  const hasLinks = newest || (request.session?.version ?? '') >= '2025-06-18'
  return longAnswer(result, { kept, source, hasLinks })
}

/** A client that may not approve calls is not asked about its own. */
function askOf(client: Client | undefined, ask: Ask | undefined): Ask | undefined {
  if (!ask || (client?.approves ?? true)) return ask
  return async question => (question.about ? { action: 'cancel' } : ask(question))
}

/** Some failures are errors of the protocol, and not results. */
function throwRpcError({ code, error, diagnosis }: ToolFailure, newest: boolean): void {
  const suggestions = diagnosis?.suggestions ?? []
  const hint = suggestions.length > 0 ? `. Did you mean ${suggestions.join(', ')}?` : ''
  if (code === 'unknown_tool') throw new RpcError(`${error}${hint}`, { code: INVALID_PARAMS })
  const rpc = diagnosis?.details?.rpc
  if (newest && isRecord(rpc) && rpc.code === MISSING_CAPABILITY)
    throw new RpcError(error, { code: MISSING_CAPABILITY, data: rpc.data })
}

/** The call's `_meta`. A trace in the message takes precedence over one in the HTTP headers. */
function metaOfCall({ meta, header }: McpRequest): RunOptions['meta'] {
  const traced = header && metaOf(header)
  if (!traced || traceContext(key => meta[key])?.traceparent !== undefined) return meta
  return { ...meta, ...traced }
}

/** Sends the progress of a call to a client that asked for it. */
function progressTo({ current, help }: McpCall) {
  let lastAt = Number.NEGATIVE_INFINITY
  const isWanted = current()?.meta.progressToken !== undefined || help.onProgress
  const listener: RunOptions['onProgress'] = progress => {
    const request = current()
    const progressToken = request?.meta.progressToken
    if (progressToken !== undefined) {
      lastAt = performance.now()
      request?.notify('notifications/progress', { progressToken, ...progress })
    }
    help.onProgress?.(progress)
  }
  return {
    listener: isWanted ? listener : undefined,
    isRecent: () => isWanted && performance.now() - lastAt < PROGRESS_GAP_MS,
  }
}

/**
 * An MCP call with an idempotency key. It ends if its client cancels it; if the client only disconnects, it continues,
 * and the client may return with the same key.
 */
async function durableResult(
  call: ToolCall,
  { signal, ...options }: RunOptions & { signal: AbortSignal },
  source: DurableSource | undefined,
): Promise<ToolResult> {
  const { [KEY_META]: key, ...meta } = options.meta ?? {}
  const wrong = keyProblem(key)
  if (wrong) return refusal(call, 'invalid_arguments', `Invalid parameters: '_meta.${KEY_META}': ${wrong}`)
  const runs = source?.durable?.()
  if (!runs) {
    const { code, error } = unavailable(call.name, source ? offText(source) : 'durable calls are off')
    return refusal(call, code, error)
  }
  const accepted = await runs.accept(call, { ...options, meta, key: key as string })
  if ('refused' in accepted) return accepted.refused
  const { id, result } = accepted
  const gone = aborted(signal).then(() => {
    if (!(signal.reason instanceof Disconnected)) runs.durable.cancel(id).catch(() => {})
    const { code, error } = cancelled(call.name)
    return { ...refusal(call, code, error), run_id: id }
  })
  return Promise.race([result, gone])
}
