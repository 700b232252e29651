import { toolpostVersion } from '../../util/package-root.ts'
import type { GatewayContext } from '../context.ts'
import { type App, content, json } from '../http.ts'

const STATES = ['starting', 'ready', 'lost', 'failed', 'needs_login', 'closed']

/** Whether calls should be sent here, and whether the process is alive. Neither needs a token. */
export const READY_PATH = '/readyz'
export const HEALTH_PATH = '/healthz'

export function addHealthRoutes(app: App, context: GatewayContext): void {
  const { calls, source, events, mcp } = context
  const { executor } = source
  const tools = () => executor.tools.getTools().length
  const history = () => source.history?.()?.status()
  const servers = () => {
    const all = source.status().servers
    return STATES.map(state => [state, all.filter(server => server.state === state).length] as const)
  }
  const durable = () => {
    const { state, text } = source.status().durable ?? {}
    return state && { durable: state === 'ready' ? { state } : { state, text } }
  }
  app.get(READY_PATH, () => {
    const status = readiness(context)
    return json({ status, ...durable() }, status === 'ready' ? 200 : 503)
  })
  // A draining process is alive: restarting it would cut off the calls it is waiting for.
  app.get(HEALTH_PATH, () => {
    const { state, dropped } = history() ?? {}
    return json({
      status: calls.isDraining ? 'draining' : 'ok',
      version: toolpostVersion(),
      tools: tools(),
      servers: Object.fromEntries(servers()),
      ...(state && { history: { state, dropped } }),
      ...durable(),
    })
  })
  app.get('/metrics', c => {
    const { client } = c.env
    const isSeen = (tool: string) => !client.isNamed || client.findTool(tool) !== undefined
    const { written, dropped } = history() ?? {}
    const perState = servers().map(([state, count]) => [`{state="${state}"}`, count] as const)
    const text = [
      family('gauge', 'tools', 'Tools that can be called', [['', tools()]]),
      family('gauge', 'servers', 'MCP servers by state', perState),
      family('gauge', 'event_clients', 'Clients watching events', [['', events.clients]]),
      family('gauge', 'mcp_sessions', 'Sessions of MCP clients with a 2025 protocol', [['', mcp.sessions]]),
      family('counter', 'history_written_total', 'Calls kept in the history', [['', written]]),
      family('counter', 'history_dropped_total', 'Calls missing from the history', [['', dropped]]),
    ]
    const type = 'text/plain; version=0.0.4; charset=utf-8'
    return content(`${executor.metrics.prometheus(isSeen)}${text.join('')}`, { 'content-type': type })
  })
}

/** A server that is down does not hold up other calls; without the durable database, calls with a key cannot be taken. */
function readiness({ source, calls }: GatewayContext): 'ready' | 'starting' | 'draining' | 'unavailable' {
  if (calls.isDraining) return 'draining'
  const { servers, durable } = source.status()
  if (durable?.state === 'lost' || durable?.state === 'failed') return 'unavailable'
  const isTried = servers.every(({ state, attempts, error }) => state !== 'starting' || attempts > 1 || error)
  return durable?.state === 'starting' || !isTried ? 'starting' : 'ready'
}

type Sample = readonly [labels: string, value: number | undefined]

/** A metric family in Prometheus text format; what is not measured is left out. */
function family(type: string, name: string, help: string, samples: readonly Sample[]): string {
  const measured = samples.filter(([, value]) => value !== undefined)
  const lines = measured.map(([labels, value]) => `toolpost_${name}${labels} ${value}\n`)
  if (lines.length === 0) return ''
  return `# HELP toolpost_${name} ${help}\n# TYPE toolpost_${name} ${type}\n${lines.join('')}`
}
