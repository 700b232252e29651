import {
  type AuthInfo,
  createMcpHandler,
  isJsonContentType,
  isLegacyRequest,
} from '@modelcontextprotocol/server'
import { type Logger, silentLogger } from '../../logging/logger.ts'
import { safeText } from '../../logging/safe-value.ts'
import type { Client, Clients } from '../clients.ts'
import { failure, shuttingDown } from '../http/answers.ts'
import { readJson } from '../http/read-body.ts'
import { MAX_MCP_BATCH, MAX_MCP_BODY_BYTES } from '../limits.ts'
import { authInfoOf, LegacySessions } from './legacy-sessions.ts'
import { onListChanges } from './list-changes.ts'
import { parseFailure, rpcFailure } from './rpc-failure.ts'
import { type ToolServerOptions, toolServerFactory } from './tool-server.ts'

/** The tools as an MCP server over Streamable HTTP. */
export interface McpEndpoint {
  handle(request: Request, client: Client): Promise<Response>
  /** Sessions of clients of the 2025 protocols. */
  readonly sessions: number
  close(): Promise<void>
}

export interface McpEndpointOptions extends ToolServerOptions {
  clients: Clients
  logger?: Logger | undefined
}

export function createMcpEndpoint(options: McpEndpointOptions): McpEndpoint {
  const { executor, clients, logger = silentLogger } = options
  const onError = (error: Error) => logger.debug({ error: safeText(error.message) }, 'MCP client problem')
  const serverFor = toolServerFactory(options)
  // By name, and looked up at every request: what a client may use can change under a session.
  const createServer = ({ authInfo }: { authInfo?: AuthInfo }) =>
    serverFor(() => clients.named(authInfo?.clientId))
  const modern = createMcpHandler(createServer, { legacy: 'reject', onerror: onError })
  const legacy = new LegacySessions({ createServer, onError })
  let isClosed = false
  const stop = onListChanges(executor.tools, () => {
    modern.notify.toolsChanged()
    legacy.toolsChanged()
  })
  return {
    async handle(request, { name: clientId }) {
      if (isClosed) return shuttingDown()
      if (request.method !== 'POST') return legacy.handle(request, undefined, clientId)
      if (!isJsonContentType(request.headers.get('content-type')))
        return failure(415, 'The Content-Type must be application/json')
      const body = await readJson(request, MAX_MCP_BODY_BYTES, parseFailure)
      if (body instanceof Response) return body
      if (body.value === undefined) return parseFailure('The body is empty')
      if (Array.isArray(body.value) && body.value.length > MAX_MCP_BATCH)
        return rpcFailure(400, `Invalid Request: a batch has at most ${MAX_MCP_BATCH} messages`)
      return (await isLegacyRequest(request, body.value))
        ? legacy.handle(request, body.value, clientId)
        : modern.fetch(request, { parsedBody: body.value, authInfo: authInfoOf(clientId) })
    },
    get sessions() {
      return legacy.size
    },
    async close() {
      isClosed = true
      stop()
      await Promise.all([modern.close(), legacy.close()])
    },
  }
}
