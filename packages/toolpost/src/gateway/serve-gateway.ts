import { once } from 'node:events'
import { createServer, type Server, type ServerOptions } from 'node:http'
import type { AddressInfo } from 'node:net'
import { hostname, networkInterfaces } from 'node:os'
import { getRequestListener } from '@hono/node-server'
import { quietLogger } from '../logging/quiet-logger.ts'
import { tokenProblem } from '../project/check.ts'
import { DEFAULT_PORT } from '../project/config.ts'
import { isLoopback } from '../util/text.ts'
import { type GatewayOptions, sourceOf } from './context.ts'
import { createGateway, type Gateway, GatewayError } from './gateway.ts'
import { DEFAULT_HOST, HTTP_LIMITS, LAST_WORDS_MS, MAX_CONNECTIONS, PORTS_TRIED } from './limits.ts'

export interface ServeOptions extends GatewayOptions {
  host?: string | undefined
  /** If left out, 4040 or the next free port; a given port must be free. */
  port?: number | undefined
}

/** A gateway that listens. */
export interface ServedGateway extends Pick<Gateway, 'token' | 'setToken' | 'abort'> {
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
}

/** Starts listening. Rejects with a GatewayError if it cannot or should not. */
export async function serveGateway(options: ServeOptions): Promise<ServedGateway> {
  const { host = DEFAULT_HOST, port = DEFAULT_PORT, token, hosts = [] } = options
  const problem = token ? tokenProblem(token) : undefined
  if (problem) throw new GatewayError(`The token ${problem}`)
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new GatewayError(`Invalid port ${port}; expected a number from 0 to 65535`)
  if (!isLoopback(host) && !token && !sourceOf(options).config?.gateway?.oauth)
    throw new GatewayError(
      `Listening on ${host} lets others on the network call the tools: set a token with TOOLPOST_TOKEN, --token or "gateway": { "token": … }`,
    )
  const gateway = createGateway({ ...options, hosts: [...hostNamesOf(host), ...hosts] })
  const server = createHttpServer()
  try {
    await listen(server, host, port, options.port === undefined ? PORTS_TRIED : 0)
  } catch (error) {
    await gateway.close()
    throw error
  }
  server.on(
    'request',
    getRequestListener((request, env) => gateway.fetch(request, env)),
  )
  // Without a listener, a connection that cannot be accepted (EMFILE) would crash the process.
  server.on('error', error =>
    quietLogger(options.logger).warn({ error: error.message }, 'Could not accept a connection'),
  )
  const bound = (server.address() as AddressInfo).port
  const { close } = gateway
  return Object.assign(gateway, {
    url: `http://${urlHost(host)}:${bound}/`,
    host,
    port: bound,
    takenPort: port !== 0 && bound !== port ? port : undefined,
    async close(options?: { drainMs?: number }): Promise<void> {
      await close(options)
      const closed = new Promise<void>(resolve => server.close(() => resolve()))
      const giveUp = setTimeout(() => server.closeAllConnections(), LAST_WORDS_MS)
      server.closeIdleConnections()
      await closed
      clearTimeout(giveUp)
    },
  })
}

export function createHttpServer(limits: ServerOptions = HTTP_LIMITS): Server {
  const server = createServer(limits)
  server.maxConnections = MAX_CONNECTIONS
  return server
}

async function listen(server: Server, host: string, port: number, more: number): Promise<void> {
  try {
    server.listen(port, host)
    await once(server, 'listening')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE' && more > 0) return listen(server, host, port + 1, more - 1)
    throw new GatewayError(`Cannot listen on ${host}:${port}: ${REASONS[code ?? ''] ?? message}`, {
      cause: error,
    })
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the address is already in use; choose another one with --port',
  EACCES: 'permission denied; choose a port above 1023',
  EADDRNOTAVAIL: 'this machine does not have that address',
  ENOTFOUND: 'this machine does not have that address',
}

/** The host names of a gateway that listens on `host`. */
function hostNamesOf(host: string): string[] {
  if (isLoopback(host)) return [host]
  const addresses = Object.values(networkInterfaces()).flatMap(
    found => found?.map(each => each.address) ?? [],
  )
  const name = hostname().toLowerCase()
  return [host, name, `${name}.local`, ...addresses].filter(each => each !== '0.0.0.0' && each !== '::')
}

/** The host as written in a URL. */
function urlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
}
