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
  const { client, session } = request
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
  const result = await calls.run(caller, () =>
    executor.run(
      { name, args },
      {
        get peer() {
          return help.peer
        },
        ask: askOf(request, help.ask ?? options.ask),
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
        onProgress: request.meta.progressToken === undefined ? undefined : onProgress,
        meta: metaOfCall(request),
        signal,
      },
    ),
  )
  // The SDK's clients drop progress that arrives together with the result.
  if (performance.now() - progressAt < PROGRESS_GAP_MS) await delay(PROGRESS_GAP_MS)
  if (!result.success) return failureAnswer(result, request)
  tool ??= executor.tools.findTool(name)
  const isServer = tool !== undefined && executor.tools.originOf(tool) !== undefined
  return {
    ...result.extra,
    content: contentOf(result, isServer),
    ...structuredOf(result, !session, isServer, tool?.outputSchema !== undefined),
    ...(result.meta && { _meta: result.meta }),
  }
}

/** A client that may not approve calls is not asked about its own. */
function askOf({ client }: McpRequest, ask: Ask | undefined): Ask | undefined {
  if (!ask || (client?.approves ?? true)) return ask
  return async question => (question.about ? { action: 'cancel' } : ask(question))
}

/** The call's `_meta`. A trace in the message takes precedence over one in the HTTP headers. */
function metaOfCall({ meta, header }: McpRequest): RunOptions['meta'] {
  const traced = traceContext(header)
  return traced && !traceContext(key => meta[key])?.traceparent ? { ...meta, ...traced } : meta
}

function failed(text: string): CallToolResult {
  return { isError: true, content: [textBlock(text)] }
}

/** Some failures are errors of the protocol, and not results. */
function failureAnswer({ code, error, diagnosis }: ToolFailure, { session }: McpRequest): CallToolResult {
  const { suggestions = [], required, details } = diagnosis ?? {}
  const hint = suggestions.length > 0 ? `. Did you mean ${suggestions.join(', ')}?` : ''
  if (code === 'unknown_tool') throw new RpcError(`${error}${hint}`, { code: INVALID_PARAMS })
  const rpc = isRecord(details?.rpc) ? details.rpc : {}
  if (!session && rpc.code === MISSING_CAPABILITY)
    throw new RpcError(error, { code: MISSING_CAPABILITY, data: rpc.data })
  return failed(code === 'invalid_arguments' && required ? `${error}. Required: ${required}` : error)
}

type Block = CallToolResult['content'][number]

function areBlocks(value: unknown): value is Block[] {
  const isBlock = (block: unknown) => isRecord(block) && typeof block.type === 'string'
  return Array.isArray(value) && value.length > 0 && value.every(isBlock)
}

/** Whether a value, of which nothing else is known, is content in MCP's format. */
function isContent(value: unknown): value is Block[] {
  return areBlocks(value) && value.every(({ type }) => BLOCK_TYPES.has(type))
}

/** What came from an MCP server is passed on unchanged. */
function contentOf({ result: value, content, text }: ToolSuccess, isServer: boolean): Block[] {
  if (areBlocks(content)) return content
  return isServer && isContent(value) ? value : [textBlock(text ?? textOf(value))]
}

/** Structured content: an object in the older protocols, any JSON in the newest. Required if a schema was announced. */
function structuredOf(
  { result: value, content, text }: ToolSuccess,
  isNewest: boolean,
  isServer: boolean,
  hasSchema: boolean,
): { structuredContent?: unknown } {
  if (!isServer && !hasSchema) return {}
  const isPlain =
    isObjectLike(value) && [Object.prototype, null].includes(Object.getPrototypeOf(value) as object)
  if (isPlain) {
    // A copy that can be sent: what JSON cannot express becomes text.
    const copy: unknown = JSON.parse(textOf(value))
    return isRecord(copy) ? { structuredContent: copy } : {}
  }
  const isText = typeof value === 'string' && (!content || (value === text && !hasSchema))
  const isRaw = content ? content === value : isContent(value)
  return !isServer || !isNewest || isText || isRaw ? {} : { structuredContent: value }
}

function textBlock(text: string): Block {
  return { type: 'text', text: text.toWellFormed() }
}
