import { createServer, type Server, type ServerOptions } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { quietLogger } from '../logging/quiet-logger.ts'
import { DEFAULT_PORT } from '../project/config.ts'
import {
  checkGatewayClients,
  checkGatewayOAuth,
  checkHost,
  checkPort,
  checkToken,
  GatewayError,
  hostNamesOf,
  urlHost,
} from './checks.ts'
import { createGateway, type Gateway, type GatewayOptions, oauthOf } from './gateway.ts'
import { DEFAULT_HOST, DRAIN_MS, HTTP_LIMITS, LAST_WORDS_MS, MAX_CONNECTIONS, PORTS_TRIED } from './limits.ts'

export interface ServeOptions extends GatewayOptions {
  host?: string | undefined
  /** If left out, 4040 or the next free port; a given port must be free. */
  port?: number | undefined
}

/** A gateway that listens. */
export interface ServedGateway extends Pick<Gateway, 'token' | 'setToken'> {
  url: string
  host: string
  port: number
  /** The preferred port, if it was taken and another one is used. */
  takenPort: number | undefined
  /**
   * Accepts no new calls and waits up to `drainMs` for running ones, while `/healthz` and `/readyz` still answer; then stops
   * listening and closes every connection.
   */
  close(options?: { drainMs?: number }): Promise<void>
  /** Aborts the running calls now. */
  abort(): void
}

/** Starts listening. Rejects with a GatewayError if it cannot or should not. */
export async function serveGateway(options: ServeOptions): Promise<ServedGateway> {
  const { host = DEFAULT_HOST, port = DEFAULT_PORT, token, hosts = [] } = options
  checkToken(token)
  checkGatewayClients(options.clients ?? options.project?.config?.clients, token)
  checkGatewayOAuth(oauthOf(options), token)
  checkPort(port)
  checkHost(host, Boolean(token) || oauthOf(options) !== undefined)
  const server = createHttpServer()
  await listen(server, host, port, options.port === undefined ? PORTS_TRIED : 0)
  const gateway = createGateway({ ...options, hosts: [...hostNamesOf(host), ...hosts] })
  server.on(
    'request',
    getRequestListener((request, env) => gateway.fetch(request, env)),
  )
  // Without a listener, a connection that cannot be accepted (EMFILE) would crash the process.
  server.on('error', error =>
    quietLogger(options.logger).warn({ error: error.message }, 'Could not accept a connection'),
  )
  const bound = (server.address() as AddressInfo).port
  return {
    url: `http://${urlHost(host)}:${bound}/`,
    host,
    port: bound,
    takenPort: port !== 0 && bound !== port ? port : undefined,
    get token() {
      return gateway.token
    },
    setToken: next => gateway.setToken(next),
    abort: () => gateway.abort(),
    close: ({ drainMs = DRAIN_MS } = {}) => close(server, gateway, drainMs),
  }
}

export function createHttpServer(limits: ServerOptions = HTTP_LIMITS): Server {
  const server = createServer(limits)
  server.maxConnections = MAX_CONNECTIONS
  return server
}

async function listen(server: Server, host: string, port: number, more: number): Promise<void> {
  try {
    await listenOnce(server, host, port)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE' && more > 0) return listen(server, host, port + 1, more - 1)
    throw new GatewayError(`Cannot listen on ${host}:${port}: ${reason(error as NodeJS.ErrnoException)}`, {
      cause: error,
    })
  }
}

function listenOnce(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

function reason({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'EADDRINUSE') return 'the address is already in use; choose another one with --port'
  if (code === 'EACCES') return 'permission denied; choose a port above 1023'
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') return 'this machine does not have that address'
  return message
}

async function close(server: Server, gateway: Gateway, drainMs: number): Promise<void> {
  await gateway.close({ drainMs })
  const closed = new Promise<void>(resolve => server.close(() => resolve()))
  const giveUp = setTimeout(() => server.closeAllConnections(), LAST_WORDS_MS)
  server.closeIdleConnections()
  await closed
  clearTimeout(giveUp)
}
