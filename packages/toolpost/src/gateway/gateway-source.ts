import type { McpIntegration } from '../mcp/index.ts'
import type { GatewayOptions } from './gateway.ts'
import type { GatewaySource } from './gateway-context.ts'

/** The gateway's project, or a source made of the parts a program passed. */
export function sourceOf(options: GatewayOptions): GatewaySource {
  const { project, executor, mcp, client, model, voice, approvals, history, bigResults } = options
  if (project) return project
  if (!executor) throw new TypeError('createGateway needs a project or an executor')
  return {
    executor,
    client,
    model: async () => model ?? unnamed(client),
    voice: () => voice,
    approvals,
    bigResults,
    catalog: mcp?.catalog,
    history: () => history,
    logins: () => mcp?.logins,
    status: () => ({ servers: mcp?.status() ?? [] }),
    restart: server =>
      mcp?.restart(server) ?? Promise.reject(new Error(`There is no MCP server '${server}'`)),
    stop: server => mcp?.stop?.(server) ?? Promise.reject(new Error(`There is no MCP server '${server}'`)),
    on(event, listener) {
      if (event === 'server' && mcp) return mcp.on('server', listener)
      return event === 'approval' && approvals ? approvals.onChange(listener) : () => {}
    },
  }
}

/** What a gateway needs from the MCP servers. */
export type GatewayServers = Pick<McpIntegration, 'status' | 'restart' | 'on'> &
  Partial<Pick<McpIntegration, 'catalog' | 'logins' | 'stop'>>

function unnamed(client: GatewayOptions['client']): { name: string; why: string } {
  return client
    ? { name: client.constructor.name, why: 'passed to createGateway' }
    : { name: 'none', why: 'no client was passed to createGateway' }
}
