import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server'
import type { ToolFailure } from '../../call/tool-result.ts'
import type { ToolExecutor } from '../../executor/executor.ts'
import type { RunOptions } from '../../executor/options.ts'
import { traceContext } from '../../telemetry/trace-context.ts'
import type { Ask } from '../../tools/caller.ts'
import type { BigResults } from '../../tools/results/big-results.ts'
import type { Tool } from '../../tools/tool.ts'
import type { ActiveCalls } from '../active-calls.ts'
import { metaOf, onSignal } from '../caller.ts'
import type { Client } from '../client.ts'
import { type DurableSource, KEY_META } from '../durable-wish.ts'
import { fits } from './answer-size.ts'
import { startOf } from './began.ts'
import type { ClientHelp } from './client-call.ts'
import type { McpRequest } from './client-peer.ts'
import type { ClientTools } from './client-tools.ts'
import { durableResult, wantsRun } from './durable-call.ts'
import { longAnswer } from './long-answer.ts'
import { ProgressNotices } from './progress-notices.ts'
import { toolAnswer } from './tool-answer.ts'

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
  args: Record<string, unknown>
  /** Tools outside the manager. */
  also: readonly Tool[]
  tools: ClientTools
  /** The idempotency key, if it is not in the request. */
  key?: string
  help: ClientHelp
  signal: AbortSignal
  /** The request the client is waiting for now. */
  current(): McpRequest | undefined
}

/** A client that may not approve calls is not asked about its own. */
function askOf(client: Client | undefined, ask: Ask | undefined): Ask | undefined {
  if (!ask || (client?.approves ?? true)) return ask
  return async question => (question.about ? { action: 'cancel' } : ask(question))
}

/** Runs a call; resolves to its result in MCP's format. */
export async function callTool(
  { name, args, key, also, tools, help, signal: given, current }: McpCall,
  { mcpReq: request, http }: ServerContext,
  options: CallToolOptions & { client: Client | undefined; version: string | undefined },
): Promise<CallToolResult> {
  const { executor, calls, client } = options
  if (calls.isDraining) return problem('Toolpost is shutting down')
  const notices = new ProgressNotices(current)
  const came = metaOfCall(request, http?.req)
  const meta = key === undefined ? came : { ...came, [KEY_META]: key }
  const runOptions = {
    ...client?.runOptions(name),
    ...help,
    ask: askOf(client, help.ask ?? options.ask),
    also,
    conversation: tools.owner.conversation,
    origin: 'mcp',
    onProgress: both(notices.listener, help.onProgress),
    meta,
  }
  const result = await calls.run(onSignal(given), signal =>
    wantsRun(meta)
      ? durableResult({ name, args }, { ...runOptions, signal }, options.source)
      : executor.run({ name, args }, { ...runOptions, signal, startedAt: startOf(http?.req) }),
  )
  await notices.settled()
  if (!result.success && result.code === 'unknown_tool')
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, unknownText(result))
  await options.results?.keep(result, tools.owner)
  tools.noteCall(name, { isLong: result.success && result.handle !== undefined })
  const tool = executor.tools.findTool(name)
  const isServer = tool !== undefined && executor.tools.originOf(tool) !== undefined
  const isNewest = request.envelope !== undefined
  const source = { isServer, hasOutputSchema: tool?.outputSchema !== undefined, isNewest }
  const kept = result.success ? options.results?.keptOf(result) : undefined
  if (result.success && kept)
    return longAnswer(result, { kept, source, hasLinks: knowsLinks(options.version, isNewest) })
  if (!(await fits(result))) return problem(`The result of '${name}' is too large for MCP`)
  return toolAnswer(result, source)
}

/** Resource links came with the June 2025 protocol: older clients would reject the whole result. */
function knowsLinks(version: string | undefined, isNewest: boolean): boolean {
  return isNewest || (version ?? '') >= '2025-06-18'
}

/** The call's `_meta`. A trace in the message takes precedence over one in the HTTP headers. */
function metaOfCall({ _meta }: McpRequest, request: Request | undefined): RunOptions['meta'] {
  const isTraced = _meta && traceContext(key => _meta[key])?.traceparent !== undefined
  return isTraced || !request ? _meta : { ..._meta, ...metaOf(request) }
}

/** Calls both listeners, if there are two. */
function both(first: RunOptions['onProgress'], second: RunOptions['onProgress']): RunOptions['onProgress'] {
  if (!first || !second) return first ?? second
  return progress => {
    first(progress)
    second(progress)
  }
}

function problem(text: string): CallToolResult {
  return { isError: true, content: [{ type: 'text', text }] }
}

function unknownText({ error, diagnosis }: ToolFailure): string {
  const suggestions = diagnosis?.suggestions ?? []
  return suggestions.length > 0 ? `${error}. Did you mean ${suggestions.join(', ')}?` : error
}
