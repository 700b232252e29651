import type { ServerState } from '../../mcp/server-status.ts'
import { toolpostVersion } from '../../runtime/version.ts'
import type { GatewayContext } from '../context.ts'
import { type App, json, plainText } from '../http.ts'
import { isSubject } from '../oauth/oauth-clients.ts'

const NO_SERVERS: Readonly<Record<ServerState, number>> = {
  starting: 0,
  ready: 0,
  lost: 0,
  failed: 0,
  needs_login: 0,
  closed: 0,
}

/** Whether calls should be sent here, and whether the process is alive. Neither needs a token. */
export const READY_PATH = '/readyz'
export const HEALTH_PATH = '/healthz'

export function addHealthRoutes(app: App, context: GatewayContext): void {
  const { executor, calls } = context
  app.get(READY_PATH, () => {
    const status = readiness(context)
    return json({ status, ...durableHealth(context) }, status === 'ready' ? 200 : 503)
  })
  // A draining process is alive: restarting it would cut off the calls it is waiting for.
  app.get(HEALTH_PATH, () => {
    const health = {
      status: calls.isDraining ? 'draining' : 'ok',
      version: toolpostVersion(),
      tools: executor.tools.getTools().length,
      servers: countStates(context),
      ...historyHealth(context),
      ...durableHealth(context),
    }
    return json(health)
  })
  const callers = countCallers(context)
  app.get('/metrics', () => plainText(`${executor.metrics.prometheus()}${ownMetrics(context, callers)}`))
}

/** How many calls each client made. Unknown names are counted together, and so are OAuth subjects. */
function countCallers({ executor, clients }: GatewayContext): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  executor.observe(({ caller, result }) => {
    if (caller === undefined || !result) return
    const isKnown = counts.has(caller) || clients.names().includes(caller)
    const label = isKnown ? caller : isSubject(caller) ? '(oauth)' : '(other)'
    counts.set(label, (counts.get(label) ?? 0) + 1)
  })
  return counts
}

/** Ready once every server and the durable database have been tried: one that is down does not hold up other calls. */
function readiness({ source, calls }: GatewayContext): 'ready' | 'starting' | 'draining' {
  if (calls.isDraining) return 'draining'
  const { servers, durable } = source.status()
  const isStarting =
    durable?.state === 'starting' ||
    servers.some(({ state, attempts }) => state === 'starting' && attempts <= 1)
  return isStarting ? 'starting' : 'ready'
}

/** A failing history does not make the gateway unhealthy: calls still work. */
function historyHealth({ source }: GatewayContext): object {
  const { state, dropped } = source.history?.()?.status() ?? {}
  return state === undefined ? {} : { history: { state, dropped } }
}

/** Reported only: direct calls work without the database. */
function durableHealth({ source }: GatewayContext): object {
  const { state, text } = source.status().durable ?? {}
  return state === undefined ? {} : { durable: state === 'ready' ? { state } : { state, text } }
}

function countStates({ source }: GatewayContext): Record<ServerState, number> {
  const counts = { ...NO_SERVERS }
  for (const { state } of source.status().servers) counts[state]++
  return counts
}

function ownMetrics(context: GatewayContext, callers: ReadonlyMap<string, number>): string {
  const { executor, events, mcp } = context
  const byCaller = [...callers].map(([name, calls]) => [`{caller="${name}"}`, calls] as const)
  const states = Object.entries(countStates(context)).map(
    ([state, count]) => [`{state="${state}"}`, count] as const,
  )
  return [
    ...family('counter', 'toolpost_caller_calls_total', 'Tool calls answered, by caller', byCaller),
    ...family('gauge', 'toolpost_tools', 'Tools that can be called', [
      ['', executor.tools.getTools().length],
    ]),
    ...family('gauge', 'toolpost_servers', 'MCP servers by state', states),
    ...family('gauge', 'toolpost_event_clients', 'Clients watching events', [['', events.clients]]),
    ...family('gauge', 'toolpost_mcp_sessions', 'Sessions of MCP clients with a 2025 protocol', [
      ['', mcp.sessions],
    ]),
    ...historyMetrics(context),
    '',
  ].join('\n')
}

function historyMetrics({ source }: GatewayContext): string[] {
  const { written, dropped } = source.history?.()?.status() ?? {}
  if (written === undefined || dropped === undefined) return []
  return [
    ...family('counter', 'toolpost_history_written_total', 'Calls kept in the history', [['', written]]),
    ...family('counter', 'toolpost_history_dropped_total', 'Calls missing from the history', [['', dropped]]),
  ]
}

type Sample = readonly [labels: string, value: number]

/** A metric family in Prometheus text format. */
function family(...[type, name, help, samples]: [string, string, string, readonly Sample[]]): string[] {
  return [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${type}`,
    ...samples.map(([labels, value]) => `${name}${labels} ${value}`),
  ]
}
