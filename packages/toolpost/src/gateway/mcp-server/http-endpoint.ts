import { createMcpHandler, isJsonContentType, isLegacyRequest } from '@modelcontextprotocol/server'
import { type Logger, silentLogger } from '../../logging/logger.ts'
import { safeText } from '../../logging/safe-value.ts'
import { failure, shuttingDown } from '../http/answers.ts'
import { readJson } from '../http/read-body.ts'
import { MAX_MCP_BATCH, MAX_MCP_BODY_BYTES } from '../limits.ts'
import { LegacySessions } from './legacy-sessions.ts'
import { onListChanges } from './list-changes.ts'
import { parseFailure, rpcFailure } from './rpc-failure.ts'
import { type ToolServerOptions, toolServerFactory } from './tool-server.ts'

/** The tools as an MCP server over Streamable HTTP. */
export interface McpEndpoint {
  handle(request: Request): Promise<Response>
  /** Sessions of clients of the 2025 protocols. */
  readonly sessions: number
  close(): Promise<void>
}

export function createMcpEndpoint(options: ToolServerOptions & { logger?: Logger | undefined }): McpEndpoint {
  const { executor, logger = silentLogger } = options
  const onError = (error: Error) => logger.debug({ error: safeText(error.message) }, 'MCP client problem')
  const createServer = toolServerFactory(options)
  const modern = createMcpHandler(createServer, { legacy: 'reject', onerror: onError })
  const legacy = new LegacySessions({ createServer, onError })
  let isClosed = false
  const stop = onListChanges(executor.tools, () => {
    modern.notify.toolsChanged()
    legacy.toolsChanged()
  })
  return {
    async handle(request) {
      if (isClosed) return shuttingDown()
      if (request.method !== 'POST') return legacy.handle(request, undefined)
      if (!isJsonContentType(request.headers.get('content-type')))
        return failure(415, 'The Content-Type must be application/json')
      const body = await readJson(request, MAX_MCP_BODY_BYTES, parseFailure)
      if (body instanceof Response) return body
      if (body.value === undefined) return parseFailure('The body is empty')
      if (Array.isArray(body.value) && body.value.length > MAX_MCP_BATCH)
        return rpcFailure(400, `Invalid Request: a batch has at most ${MAX_MCP_BATCH} messages`)
      return (await isLegacyRequest(request, body.value))
        ? legacy.handle(request, body.value)
        : modern.fetch(request, { parsedBody: body.value })
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
