import { isSecretKey } from '../logging/redact.ts'
import { TRACE_KEYS, traceContext } from '../telemetry/trace-context.ts'
import type { InvokeOptions, Tool } from '../tools/tool.ts'
import { ToolFailureError } from '../tools/tool-failure-error.ts'
import { isRecord, ownValue } from '../util/guards.ts'
import { valueOfResult } from './call-result.ts'
import { finalResult } from './final-result.ts'
import { paramHeaders } from './header-parameters.ts'
import type { McpServer } from './mcp-server.ts'
import { type Params, RpcError } from './peer.ts'
import { isHttpUrl } from './server-entry.ts'
import { OUTCOME_UNKNOWN, ServerFailure } from './server-failure.ts'
import type { RequestOptions } from './session.ts'
import type { McpToolDefinition } from './tool-definition.ts'

/** JSON-RPC code of a call that requires URLs to be visited first. */
const URL_REQUIRED = -32_042

interface ToolCall {
  definition: McpToolDefinition
  server: McpServer
  /** Neither read-only nor idempotent, or nobody vouches for that: must not run twice. */
  isWrite: boolean
}

/** A tool of an MCP server. It belongs to the server, not to a session, so it survives a restart. */
export function mcpTool(definition: McpToolDefinition, server: McpServer): Tool {
  const { name, readOnly, idempotent } = definition
  const { timeoutMs, maxTimeoutMs, sentences = {}, trust } = server.entry
  const call: ToolCall = { definition, server, isWrite: !trust || !(readOnly || idempotent) }
  return {
    ...definition,
    timeoutMs,
    maxTimeoutMs,
    sentences: ownValue(sentences, name),
    invoke: (args, options: Partial<InvokeOptions> = {}) => invoke(call, args, options),
  }
}

/**
 * Calls the tool on its server. Rejects with the server's own message, or with `unavailable` while it is down. A call whose
 * server was lost is repeated once if that is safe.
 */
async function invoke(call: ToolCall, args: object, options: Partial<InvokeOptions>): Promise<unknown> {
  const { definition, server, isWrite } = call
  const { name, schema, raw } = definition
  const { meta, wantsProgress, onRequest } = options
  const params = { name: (raw ?? definition).name, arguments: args }
  // If the server was just reconfigured, the call waits for its replacement.
  let session = server.session ?? (server.isFirstStart ? await server.tried() : undefined)
  if (!session || (!server.session && options.signal?.aborted)) throw server.unavailable()
  for (let mayRepeat = !isWrite; ; mayRepeat = false) {
    const request: RequestOptions = {
      from: options,
      // Callers other than the executor have a signal only, which costs more.
      signal: options.onAbort ? undefined : options.signal,
      onAbort: listener => options.onAbort?.(listener),
      onProgress: wantsProgress ? progress => options.reportProgress?.(progress) : undefined,
      meta: meta && callMeta(meta),
      onRequest,
      send: session.mirrorsArguments ? { headers: paramHeaders(schema, args) } : undefined,
    }
    try {
      return valueOfResult(await finalResult(session, 'tools/call', params, request))
    } catch (error) {
      if (!(error instanceof ServerFailure && error.isLoss)) throw errorOf(error, name, isWrite)
      if (!mayRepeat) throw lost(server, error, isWrite)
      session = await server.tried()
      if (!session || options.signal?.aborted) throw lost(server, error, false)
    }
  }
}

/** What a failed call says to its caller. A JSON-RPC error keeps its code and data for those who can pass them on. */
function errorOf(error: unknown, name: string, isWrite: boolean): unknown {
  if (error instanceof ServerFailure) {
    const { kind, message, retryAfterMs } = error
    if (kind === 'lacks_scope') return new ToolFailureError('denied', `Tool '${name}' was denied: ${message}`)
    const consequence = isWrite && kind === 'unusable' ? OUTCOME_UNKNOWN : ''
    return new ToolFailureError('tool_error', `${message}${consequence}`, { retryAfterMs })
  }
  if (!(error instanceof RpcError) || error.data === undefined) return error
  const { rpcCode: code, data } = error
  const asked = code === URL_REQUIRED && isRecord(data) ? [data.elicitations].flat() : []
  const urls = asked.map(each => String(isRecord(each) && each.url)).filter(isHttpUrl)
  const message = urls.length > 0 ? `Open this page first, then call again: ${urls.join(' ')}` : error.message
  const diagnosis = { details: { rpc: { code, data } } }
  return new ToolFailureError('tool_error', message, { diagnosis, cause: error })
}

function lost(server: McpServer, { message, kind }: ServerFailure, isWrite: boolean): ToolFailureError {
  const consequence = isWrite ? OUTCOME_UNKNOWN : ''
  return server.unavailable(kind === 'unsent' ? message : `${message} during the call${consequence}`)
}

/** Prefixes reserved by MCP: `io.modelcontextprotocol/`, `mcp.dev/`, `com.mcp.tools/` … */
const RESERVED = /^(?:[^./]+\.)?(?:modelcontextprotocol|mcp)[./]/

/**
 * The `_meta` for a server: the trace context, and whatever the caller passed for the server. Leaves out the protocol's own
 * keys, which apply to one connection only, and keys that look like secrets.
 */
function callMeta(meta: Params): Params | undefined {
  const trace = traceContext(key => ownValue(meta, key)) as Params | undefined
  const isOwn = (key: string) =>
    key !== 'progressToken' && !TRACE_KEYS.includes(key) && !RESERVED.test(key) && !isSecretKey(key)
  const own = Object.fromEntries(Object.entries(meta).filter(([key]) => isOwn(key)))
  return Object.keys(own).length > 0 ? { ...own, ...trace } : trace
}
