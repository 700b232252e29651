import { PassThrough, type Readable, type Writable } from 'node:stream'
import type { Server } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import type { ToolExecutor } from '../../executor/executor.ts'
import type { Logger } from '../../logging/logger.ts'
import { quietLogger } from '../../logging/quiet-logger.ts'
import { safeText } from '../../logging/safe-value.ts'
import type { Catalog } from '../../mcp/catalog.ts'
import type { Ask } from '../../tools/caller.ts'
import type { BigResults } from '../../tools/results/big-results.ts'
import { ActiveCalls } from '../active-calls.ts'
import type { DurableSource } from '../durable-wish.ts'
import { aborted } from '../http/aborted.ts'
import { DRAIN_MS } from '../limits.ts'
import { AnsweringTransport } from './answering-transport.ts'
import type { OfferSettings } from './client-tools.ts'
import { followAll, followedBy, whenClosed } from './followed-resources.ts'
import { type OfferedList, onListChanges, sendListChanged } from './list-changes.ts'
import { toolServerFactory } from './tool-server.ts'

export interface StdioOptions {
  executor: ToolExecutor
  /** The resources and prompts of the MCP servers. */
  catalog?: Catalog | undefined
  /** Makes calls durable, if that is available: a project. */
  source?: DurableSource | undefined
  stdin: Readable
  /** Carries JSON-RPC and nothing else. */
  stdout: Writable
  /** Stops serving once running calls are done. */
  signal?: AbortSignal | undefined
  /** Waits for the tools before they are first listed. */
  whenListed?: (() => Promise<void>) | undefined
  /** Asks the user if the client cannot show a question. */
  ask?: Ask | undefined
  /** Keeps results too long for a model. */
  results?: BigResults | undefined
  /** How tools are offered; read again for every list. */
  offer?: (() => OfferSettings) | undefined
  logger?: Logger | undefined
  drainMs?: number | undefined
}

/** Serves the tools as an MCP server on a pair of streams, until the client is gone or `signal` aborts. */
export async function serveTools(options: StdioOptions): Promise<void> {
  const { executor, stdin, stdout, signal, whenListed, ask, catalog, source, results, offer } = options
  const { drainMs = DRAIN_MS } = options
  const logger = quietLogger(options.logger)
  const calls = new ActiveCalls()
  const servers = new Set<Server>()
  const tell = (kind: OfferedList) => {
    for (const server of servers) sendListChanged(server, kind).catch(() => {})
  }
  const createServer = toolServerFactory({
    ...{ executor, calls, whenListed, ask, catalog, source, results, offer },
    onOfferChange: () => tell('tools'),
  })
  const input = new PassThrough()
  const transport = new AnsweringTransport(input, stdout)
  const connect = async ({ era }: { era: 'legacy' | 'modern' }) => {
    // In the 2025 protocols, the servers' instructions are sent at the start or never.
    if (era === 'legacy') await whenListed?.()
    return remembered(createServer(undefined, era), servers)
  }
  const connection = serveStdio(connect, {
    transport,
    onerror: error => logger.warn({ error: safeText(error.message) }, 'MCP client problem'),
  })
  const stops = [
    onListChanges(executor.tools, catalog, tell),
    ...(catalog ? [followListened(transport, catalog, servers)] : []),
  ]
  stdin.pipe(input, { end: false })
  await Promise.race([transport.whenClosed, ended(stdin), aborted(signal)])
  // A client that wrote its requests and closed the pipe still gets its responses; the SDK alone would drop them.
  await Promise.race([transport.whenClosed, transport.whenAnswered(drainMs)])
  for (const stop of stops) stop()
  await connection.close()
  calls.abort()
}

/** Subscribes to the resources a client with the newest protocol listens to, until it stops or is gone. */
function followListened(
  transport: AnsweringTransport,
  catalog: Catalog,
  servers: ReadonlySet<Server>,
): () => void {
  const stops = new Map<unknown, () => void>()
  const { onmessage } = transport
  const end = (id: unknown) => {
    stops.get(id)?.()
    stops.delete(id)
  }
  transport.onmessage = message => {
    const followed = followedBy(message)
    if (followed && 'id' in message && !stops.has(message.id))
      stops.set(message.id, followAll(catalog, followed.resourceSubscriptions))
    if ('method' in message && message.method === 'notifications/cancelled') end(message.params?.requestId)
    onmessage?.(message)
  }
  const stop = catalog.on('updated', uri => {
    if (stops.size > 0) for (const server of servers) server.sendResourceUpdated({ uri }).catch(() => {})
  })
  return () => {
    stop()
    for (const id of [...stops.keys()]) end(id)
  }
}

function remembered(server: Server, servers: Set<Server>): Server {
  servers.add(server)
  whenClosed(server, () => servers.delete(server))
  return server
}

function ended(stdin: Readable): Promise<void> {
  return new Promise(resolve => {
    // Pass on what was read last before checking what is still unanswered.
    const soon = () => void setImmediate(resolve)
    stdin.once('end', soon).once('close', soon)
  })
}
