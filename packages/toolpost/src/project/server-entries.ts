import type { ServerEntry, ServerState, ServerStatus } from '../mcp/index.ts'
import { ownValue } from '../runtime/guards.ts'
import { type ExampleHome, ZWAVE_SERVER, zwavePackage } from './example-home.ts'
import { stateFolder } from './local-state.ts'
import type { ResolvedConfig } from './resolve.ts'

/** The servers to start: the usable ones of the configuration, and that of the example home. */
export function serverEntries(
  { config, brokenServers }: ResolvedConfig,
  home: ExampleHome | undefined,
): Record<string, ServerEntry> {
  const configured = Object.entries(config.mcpServers ?? {})
  const usable = configured.filter(([name]) => !Object.hasOwn(brokenServers, name))
  return { ...Object.fromEntries(usable), ...(home && { [ZWAVE_SERVER]: home.server }) }
}

/** The folder for a project's logins, next to its history. */
export function loginsFolder({ file }: { file: string | undefined }): string {
  return stateFolder(file)
}

/** Every server in the order of the configuration, including those that have not started yet. */
export function serverStatus(
  { config, file, brokenServers }: ResolvedConfig,
  running: readonly ServerStatus[],
  isStarting: boolean,
): ServerStatus[] {
  const byName = new Map(running.map(status => [status.name, status]))
  const example = file === undefined && zwavePackage() !== undefined ? [ZWAVE_SERVER] : []
  const names = new Set([...Object.keys(config.mcpServers ?? {}), ...example, ...byName.keys()])
  return [...names].flatMap(name => {
    const problem = ownValue(brokenServers, name)
    if (problem !== undefined) return idleStatus(name, 'failed', problem)
    return byName.get(name) ?? (isStarting ? idleStatus(name, 'starting') : [])
  })
}

function idleStatus(name: string, state: ServerState, error?: string): ServerStatus {
  return {
    name,
    state,
    attempts: 0,
    tools: [],
    error,
    stderr: '',
    exitCode: null,
    pid: undefined,
    junkLines: 0,
    nextAttemptAt: undefined,
    readyAfterMs: undefined,
    protocolVersion: undefined,
  }
}
