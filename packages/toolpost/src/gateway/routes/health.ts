import type { Hono } from 'hono'
import type { ServerState } from '../../mcp/server-status.ts'
import { toolpostVersion } from '../../runtime/version.ts'
import type { GatewayContext } from '../gateway-context.ts'
import { json, plainText } from '../http/answers.ts'

const STATES: readonly ServerState[] = ['starting', 'ready', 'lost', 'failed', 'closed']

export function addHealthRoutes(app: Hono, context: GatewayContext): void {
  const { executor, calls } = context
  app.get('/healthz', () => {
    const health = {
      status: calls.isDraining ? 'draining' : 'ok',
      version: toolpostVersion(),
      tools: executor.tools.getTools().length,
      servers: countStates(context),
    }
    return json(health, calls.isDraining ? 503 : 200)
  })
  app.get('/metrics', () => plainText(`${executor.metrics.prometheus()}${ownMetrics(context)}`))
}

function countStates({ source }: GatewayContext): Record<ServerState, number> {
  const counts = Object.fromEntries(STATES.map(state => [state, 0])) as Record<ServerState, number>
  for (const { state } of source.status().servers) counts[state]++
  return counts
}

function ownMetrics(context: GatewayContext): string {
  const { executor, events, mcp, callers } = context
  const states = Object.entries(countStates(context)).map(
    ([state, count]) => [`{state="${state}"}`, count] as const,
  )
  return [
    ...counter('toolpost_caller_calls_total', 'Tool calls answered, by caller', callers.samples()),
    ...gauge('toolpost_tools', 'Tools that can be called', [['', executor.tools.getTools().length]]),
    ...gauge('toolpost_servers', 'MCP servers by state', states),
    ...gauge('toolpost_event_clients', 'Clients that watch the events', [['', events.clients]]),
    ...gauge('toolpost_mcp_sessions', 'Sessions of MCP clients of the 2025 protocols', [['', mcp.sessions]]),
    '',
  ].join('\n')
}

type Samples = readonly (readonly [labels: string, value: number])[]

const gauge = (name: string, help: string, samples: Samples) => family(name, 'gauge', help, samples)
const counter = (name: string, help: string, samples: Samples) => family(name, 'counter', help, samples)

function family(name: string, type: string, help: string, samples: Samples): string[] {
  return [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${type}`,
    ...samples.map(([labels, value]) => `${name}${labels} ${value}`),
  ]
}
