import { setTimeout as delay } from 'node:timers/promises'
import type { CallToolResult } from '@modelcontextprotocol/server'
import type { ToolFailure, ToolSuccess } from '../../call/tool-result.ts'
import type { ToolExecutor } from '../../executor/executor.ts'
import { textOf } from '../../executor/model-text.ts'
import type { RunOptions } from '../../executor/options.ts'
import { INVALID_PARAMS, RpcError } from '../../mcp/peer.ts'
import { traceContext } from '../../telemetry/trace-context.ts'
import type { Ask } from '../../tools/caller.ts'
import type { Tool } from '../../tools/tool.ts'
import { BLOCK_TYPES } from '../../tools/tool-output.ts'
import { isObjectLike, isRecord } from '../../util/guards.ts'
import type { ActiveCalls } from '../active-calls.ts'
import type { Client } from '../clients.ts'
import type { GatewaySource } from '../context.ts'
import { metaOf } from '../http.ts'
import { PROGRESS_GAP_MS } from '../limits.ts'
import type { ClientHelp } from './client-calls.ts'
import { isNewest, type McpRequest, MISSING_CAPABILITY, type Params } from './protocol.ts'

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
  help: ClientHelp
  caller: AbortController
  request: McpRequest
  /** The request that waits for it now. */
  current(): McpRequest | undefined
}

/** Runs a call; resolves to its result in MCP's format. */
export async function callTool(mcpCall: McpCall, options: CallToolOptions): Promise<object> {
  const { name, args, also, help, caller, request } = mcpCall
  const { executor, calls } = options
  const { client, startedAt } = request
  if (calls.isDraining) return failed('Toolpost is shutting down')
  const progress = progressTo(mcpCall)
  const { onProgress: _, ask = options.ask, ...other } = help
  const { signal } = caller
  const wait = { limitMs: executor.timeoutMsOf(name, {}), signal }
  const result = await calls.run(caller, async () => {
    if (also.length === 0 && !executor.tools.findTool(name)) await options.waitWhileStarting?.(name, wait)
    return executor.run(
      { name, args },
      {
        ...other,
        ask: askOf(client, ask),
        caller: client?.caller,
        among: client?.among(name),
        also,
        conversation: request.session?.id,
        origin: 'mcp',
        startedAt,
        onProgress: progress.listener,
        meta: metaOfCall(request),
        signal,
      },
    )
  })
  if (progress.isRecent()) await delay(PROGRESS_GAP_MS)
  if (!result.success) return failureAnswer(result, request)
  const tool = executor.tools.findTool(name)
  const isServer = tool !== undefined && executor.tools.originOf(tool) !== undefined
  return {
    ...result.extra,
    content: contentOf(result, isServer),
    ...structuredOf(result, request, isServer, tool?.outputSchema !== undefined),
    ...(result.meta && { _meta: result.meta }),
  }
}

/** A client that may not approve calls is not asked about its own. */
function askOf(client: Client | undefined, ask: Ask | undefined): Ask | undefined {
  if (!ask || (client?.approves ?? true)) return ask
  return async question => (question.about ? { action: 'cancel' } : ask(question))
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
    const { progressToken } = current()?.meta ?? {}
    help.onProgress?.(progress)
    if (progressToken === undefined) return
    lastAt = performance.now()
    current()?.notify('notifications/progress', { progressToken, ...progress })
  }
  return {
    listener: isWanted ? listener : undefined,
    isRecent: () => performance.now() - lastAt < PROGRESS_GAP_MS,
  }
}

function failed(text: string): CallToolResult {
  return { isError: true, content: [{ type: 'text', text: text.toWellFormed() }] }
}

/** Some failures are errors of the protocol, and not results. */
function failureAnswer({ code, error, diagnosis }: ToolFailure, request: McpRequest): CallToolResult {
  const { suggestions = [], required, details } = diagnosis ?? {}
  const hint = suggestions.length > 0 ? `. Did you mean ${suggestions.join(', ')}?` : ''
  if (code === 'unknown_tool') throw new RpcError(`${error}${hint}`, { code: INVALID_PARAMS })
  const rpc = isRecord(details?.rpc) ? details.rpc : {}
  if (isNewest(request) && rpc.code === MISSING_CAPABILITY)
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
  request: McpRequest,
  isServer: boolean,
  hasSchema: boolean,
): { structuredContent?: Record<string, unknown> } {
  const isPlain =
    isObjectLike(value) && [Object.prototype, null].includes(Object.getPrototypeOf(value) as object)
  if (isPlain) {
    // A copy that can be sent: what JSON cannot express becomes text.
    const copy: unknown = isServer || hasSchema ? JSON.parse(textOf(value)) : undefined
    return isRecord(copy) ? { structuredContent: copy } : {}
  }
  const isText = typeof value === 'string' && (!content || (value === text && !hasSchema))
  const isRaw = content ? content === value : isContent(value)
  if (!isServer || !isNewest(request) || isText || isRaw) return {}
  return { structuredContent: value as Record<string, unknown> }
}

function textBlock(text: string): Block {
  return { type: 'text', text: text.toWellFormed() }
}
