import { ZWAVE_SERVER } from '../known-servers/zwave.ts'
import type { ServerEntry, ServerStatus } from '../mcp/index.ts'
import type { ExampleHome } from './example-home.ts'
import type { Description } from './open-project.ts'

/** The servers to start: those of the configuration that are usable, and that of the example home. */
export function serverEntries(
  { config, brokenServers }: Description,
  home: ExampleHome | undefined,
): Record<string, ServerEntry> {
  const configured = Object.entries(config.mcpServers ?? {})
  const usable = configured.filter(([name]) => !Object.hasOwn(brokenServers, name))
  return { ...Object.fromEntries(usable), ...(home && { [ZWAVE_SERVER]: home.server }) }
}

/** Every server in the order of the configuration, also those that cannot be started as they are configured. */
export function serverStatus(
  { config, brokenServers }: Description,
  running: readonly ServerStatus[],
): ServerStatus[] {
  const byName = new Map(running.map(status => [status.name, status]))
  const names = new Set([...Object.keys(config.mcpServers ?? {}), ...byName.keys()])
  return [...names].flatMap(name => {
    const problem = Object.hasOwn(brokenServers, name) ? brokenServers[name] : undefined
    return problem === undefined ? (byName.get(name) ?? []) : brokenStatus(name, problem)
  })
}

function brokenStatus(name: string, problem: string): ServerStatus {
  return {
    name,
    state: 'failed',
    attempts: 0,
    tools: [],
    error: problem,
    stderr: '',
    exitCode: null,
    pid: undefined,
    junkLines: 0,
    nextAttemptAt: undefined,
    readyAfterMs: undefined,
    protocolVersion: undefined,
  }
}
