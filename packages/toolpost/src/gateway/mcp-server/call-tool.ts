import { setTimeout as delay } from 'node:timers/promises'
import type { CallToolResult } from '@modelcontextprotocol/server'
import type { ToolFailure, ToolSuccess } from '../../call/tool-result.ts'
import type { ToolExecutor } from '../../executor/executor.ts'
import { textOf } from '../../executor/model-text.ts'
import type { RunOptions } from '../../executor/options.ts'
import { INVALID_PARAMS, type Params, RpcError } from '../../mcp/peer.ts'
import { traceContext } from '../../telemetry/trace-context.ts'
import type { Ask, Caller } from '../../tools/caller.ts'
import type { Tool } from '../../tools/tool.ts'
import { BLOCK_TYPES } from '../../tools/tool-output.ts'
import { isObjectLike, isRecord } from '../../util/guards.ts'
import type { ActiveCalls } from '../active-calls.ts'
import type { GatewaySource } from '../context.ts'
import { PROGRESS_GAP_MS } from '../limits.ts'
import { type McpRequest, MISSING_CAPABILITY } from './protocol.ts'

export interface CallToolOptions {
  executor: ToolExecutor
  calls: ActiveCalls
  /** Asks the user if the client cannot show a question. */
  ask?: Ask | undefined
  /** Waits for a tool that is not registered yet, while servers are starting. */
  waitWhileStarting?: GatewaySource['waitWhileStarting']
}

/** A call, as the client intends it. */
export interface McpCall {
  name: string
  args: Params
  /** Tools outside the manager. */
  also: readonly Tool[]
  help: Caller
  caller: AbortController
  request: McpRequest
  /** The request that waits for it now. */
  current(): McpRequest | undefined
}

/** Runs a call; resolves to its result in MCP's format. */
export async function callTool(call: McpCall, options: CallToolOptions): Promise<object> {
  const { name, args, also, help, caller, request, current } = call
  const { executor, calls, waitWhileStarting } = options
  const { client, session, meta } = request
  if (calls.isDraining) return failed('Toolpost is shutting down')
  const { signal } = caller
  let tool = executor.tools.findTool(name)
  if (!tool && also.length === 0 && waitWhileStarting) {
    const limitMs = executor.timeoutMsOf(name, {})
    await calls.run(caller, async () => waitWhileStarting(name, { limitMs, signal }))
  }
  let progressAt = Number.NEGATIVE_INFINITY
  const onProgress: RunOptions['onProgress'] = progress => {
    const { progressToken } = current()?.meta ?? {}
    if (progressToken === undefined) return
    progressAt = performance.now()
    current()?.notify('notifications/progress', { progressToken, ...progress })
  }
  // A trace in the message takes precedence over one in the HTTP headers.
  const traced = traceContext(request.header)
  const isTraced = traced && !traceContext(key => meta[key])?.traceparent
  // Written out: spread, or with getters, it costs as much as the rest of the call.
  const runOptions: RunOptions = {
    peer: help.peer,
    ask: help.ask ?? options.ask,
    sample: help.sample,
    roots: help.roots,
    onLog: help.onLog,
    onTask: help.onTask,
    caller: client?.caller,
    among: client?.among(name),
    also,
    conversation: session?.id,
    origin: 'mcp',
    startedAt: request.startedAt,
    onProgress: meta.progressToken === undefined ? undefined : onProgress,
    meta: isTraced ? { ...meta, ...traced } : meta,
    signal,
  }
  const result = await calls.run(caller, () => executor.run({ name, args }, runOptions))
  // The SDK's clients drop progress that arrives together with the result.
  if (performance.now() - progressAt < PROGRESS_GAP_MS) await delay(PROGRESS_GAP_MS)
  if (!result.success) return failureAnswer(result, session !== undefined)
  tool ??= executor.tools.findTool(name)
  const isServer = tool !== undefined && executor.tools.originOf(tool) !== undefined
  const hasSchema = tool?.outputSchema !== undefined
  const answer: Record<string, unknown> = { ...result.extra, content: contentOf(result, isServer) }
  const structured = structuredOf(result, { isNewest: !session, isServer, hasSchema })
  if (structured !== undefined) answer.structuredContent = structured
  if (result.meta) answer._meta = result.meta
  return answer
}

function failed(text: string): CallToolResult {
  return { isError: true, content: [textBlock(text)] }
}

/** Some failures are errors of the protocol, and not results. */
function failureAnswer({ code, error, diagnosis }: ToolFailure, isSession: boolean): CallToolResult {
  const { suggestions = [], required, details } = diagnosis ?? {}
  const hint = suggestions.length > 0 ? `. Did you mean ${suggestions.join(', ')}?` : ''
  if (code === 'unknown_tool') throw new RpcError(`${error}${hint}`, { code: INVALID_PARAMS })
  const rpc = isRecord(details?.rpc) ? details.rpc : {}
  if (!isSession && rpc.code === MISSING_CAPABILITY)
    throw new RpcError(error, { code: MISSING_CAPABILITY, data: rpc.data })
  return failed(code === 'invalid_arguments' && required ? `${error}. Required: ${required}` : error)
}

type Block = CallToolResult['content'][number]

/** Whether a value is content in MCP's format; of `types` only, if nothing else is known of it. */
function areBlocks(value: unknown, types?: ReadonlySet<unknown>): value is Block[] {
  const isBlock = (block: unknown) =>
    isRecord(block) && typeof block.type === 'string' && (types?.has(block.type) ?? true)
  return Array.isArray(value) && value.length > 0 && value.every(isBlock)
}

/** What came from an MCP server is passed on unchanged. */
function contentOf({ result: value, content, text }: ToolSuccess, isServer: boolean): Block[] {
  if (areBlocks(content)) return content
  return isServer && areBlocks(value, BLOCK_TYPES) ? value : [textBlock(text ?? textOf(value))]
}

/** Structured content: an object in the older protocols, any JSON in the newest. Required if a schema was announced. */
function structuredOf(
  { result: value, content, text }: ToolSuccess,
  { isNewest, isServer, hasSchema }: { isNewest: boolean; isServer: boolean; hasSchema: boolean },
): unknown {
  if (!isServer && !hasSchema) return undefined
  if (isObjectLike(value) && [Object.prototype, null].includes(Object.getPrototypeOf(value) as object)) {
    // A copy that can be sent: what JSON cannot express becomes text.
    const copy: unknown = JSON.parse(textOf(value))
    return isRecord(copy) ? copy : undefined
  }
  const isText = typeof value === 'string' && (!content || (value === text && !hasSchema))
  const isRaw = content ? content === value : areBlocks(value, BLOCK_TYPES)
  return !isServer || !isNewest || isText || isRaw ? undefined : value
}

function textBlock(text: string): Block {
  return { type: 'text', text: text.toWellFormed() }
}
