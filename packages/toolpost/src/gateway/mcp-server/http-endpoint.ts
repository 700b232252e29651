import {
  type AuthInfo,
  createMcpHandler,
  isJsonContentType,
  isLegacyRequest,
} from '@modelcontextprotocol/server'
import type { Logger } from '../../logging/logger.ts'
import { safeText } from '../../logging/safe-value.ts'
import { Catalog } from '../../mcp/catalog.ts'
import { isRecord } from '../../runtime/guards.ts'
import { myTurn } from '../../runtime/turns.ts'
import { innerCall } from '../../tools/search/search-tools.ts'
import type { Client } from '../client.ts'
import type { Clients, Refusal } from '../clients.ts'
import { failure, shuttingDown } from '../http/answers.ts'
import { readJson } from '../http/read-body.ts'
import { MAX_FOLLOWED, MAX_MCP_BATCH, MAX_MCP_BODY_BYTES } from '../limits.ts'
import { began } from './began.ts'
import { followedBy, followWhile } from './followed-resources.ts'
import { authInfoOf, LegacySessions } from './legacy-sessions.ts'
import { onListChanges } from './list-changes.ts'
import { refusedParamHeaders } from './param-headers.ts'
import { parseFailure, rpcFailure } from './rpc-failure.ts'
import { type ToolServerOptions, toolServerFactory } from './tool-server.ts'

/** The tools as an MCP server over Streamable HTTP. */
export interface McpEndpoint {
  /** Calls in the request began at `startedAt`, on the executor's clock. */
  handle(request: Request, client: Client, startedAt: number): Promise<Response>
  /** The sessions of clients with a 2025 protocol. */
  readonly sessions: number
  close(): Promise<void>
}

export interface McpEndpointOptions extends ToolServerOptions {
  clients: Clients
  logger: Logger
}

export function createMcpEndpoint(options: McpEndpointOptions): McpEndpoint {
  const { executor, clients, catalog = new Catalog(), logger } = options
  const onError = (error: Error) => logger.debug({ error: safeText(error.message) }, 'MCP client problem')
  const onOfferChange = () => modern.notify.toolsChanged()
  const serverFor = toolServerFactory({ ...options, catalog, onOfferChange })
  // By name, looked up at every request: a client's rights can change during a session.
  const createServer = ({ authInfo, era }: { authInfo?: AuthInfo; era?: 'legacy' | 'modern' }) =>
    serverFor(() => clients.named(authInfo?.clientId), era)
  const modern = createMcpHandler(createServer, { legacy: 'reject', onerror: onError })
  const legacy = new LegacySessions({ createServer, onError })
  let isClosed = false
  // The SDK takes a millisecond or so per request: one session must not hold up another.
  const turnFor = (request: Request, clientId: string) => {
    const session = request.headers.get('mcp-session-id')
    return myTurn(session !== null && legacy.has(session) ? session : clientId)
  }
  const stops = [
    onListChanges(executor.tools, catalog, kind => {
      modern.notify[`${kind}Changed`]()
      legacy.tellChanged(kind)
    }),
    catalog.on('updated', uri => modern.notify.resourceUpdated(uri)),
  ]
  return {
    async handle(request, client, startedAt) {
      const { key: clientId } = client
      if (isClosed) return shuttingDown()
      if (request.method !== 'POST') {
        await turnFor(request, clientId)
        return legacy.handle(request, undefined, clientId)
      }
      if (!isJsonContentType(request.headers.get('content-type')))
        return failure(415, 'The Content-Type must be application/json')
      const body = await readJson(request, MAX_MCP_BODY_BYTES, { notJson: parseFailure })
      if (body instanceof Response) return body
      if (body.value === undefined) return parseFailure('The body is empty')
      if (Array.isArray(body.value) && body.value.length > MAX_MCP_BATCH)
        return rpcFailure(400, `Invalid Request: a batch may have at most ${MAX_MCP_BATCH} messages`)
      began(request, startedAt)
      await turnFor(request, clientId)
      const searches = client.toolSearch ?? options.offer?.().toolSearch ?? false
      const refusal = refuseCalls(body.value, searches, name => clients.refuseCall(request, name))
      if (refusal) return refusal
      if (await isLegacyRequest(request, body.value)) return legacy.handle(request, body.value, clientId)
      const refused = refusedCall(request, body.value, clients.named(clientId))
      if (refused) return refused
      const respond = () => modern.fetch(request, { parsedBody: body.value, authInfo: authInfoOf(clientId) })
      const followed = followedBy(body.value)
      if (!followed) return respond()
      const access = clients.named(clientId).access('resources')
      const wanted = followed.resourceSubscriptions.slice(0, MAX_FOLLOWED)
      const allowed = access ? await catalog.allowed(wanted, access) : wanted
      followed.resourceSubscriptions = allowed
      return followWhile(catalog, allowed, respond)
    },
    get sessions() {
      return legacy.size
    },
    async close() {
      isClosed = true
      for (const stop of stops) stop()
      await Promise.all([modern.close(), legacy.close()])
    },
  }
}

/** Refuses a call whose headers disagree with its arguments. */
function refusedCall(request: Request, body: unknown, client: Client): Response | undefined {
  if (!isRecord(body) || body.method !== 'tools/call' || !isRecord(body.params)) return undefined
  const tool = client.findTool(String(body.params.name))
  return tool && refusedParamHeaders(request, body, tool)
}

/** Refuses a message that calls a tool for which the client lacks the scope. */
function refuseCalls(body: unknown, searches: boolean, refuse: (tool: string) => Refusal): Refusal {
  for (const message of Array.isArray(body) ? body : [body]) {
    const { method, params } = isRecord(message) ? message : {}
    const { name, arguments: args } = isRecord(params) ? params : {}
    if (method !== 'tools/call' || typeof name !== 'string') continue
    const refusal = refuse(searches ? innerCall({ name, args }).name : name)
    if (refusal) return refusal
  }
  return undefined
}
