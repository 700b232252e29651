import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ToolExecutor } from '../../src/executor/executor.ts'
import { McpIntegration, type McpIntegrationOptions } from '../../src/mcp/mcp-integration.ts'
import type { ServerEntry } from '../../src/mcp/server-entry.ts'
import type { ServerStatus } from '../../src/mcp/server-status.ts'
import { type RecordingLogger, recordingLogger } from '../../src/testing/recording-logger.ts'
import { ToolManager } from '../../src/tools/tool-manager.ts'
import { eventsIn, type HostileFaults, hostileServer } from './hostile-server.ts'

/** Servers with everything a test needs around them. */
export interface Harness {
  mcp: McpIntegration
  tools: ToolManager
  executor: ToolExecutor
  log: RecordingLogger
  status(name?: string): ServerStatus
  [Symbol.asyncDispose](): Promise<void>
}

/** Starts servers and waits until each is ready or has failed. */
export function startServers(...given: Parameters<typeof harnessFor>): Promise<Harness> {
  return whenReady(harnessFor(...given))
}

async function whenReady<Started extends Harness>(harness: Started): Promise<Started> {
  await harness.mcp.ready()
  return harness
}

/** Starts servers without waiting for them. */
export function harnessFor(
  servers: Record<string, ServerEntry>,
  options: Partial<McpIntegrationOptions> = {},
): Harness {
  const log = recordingLogger()
  const tools = new ToolManager({ logger: log })
  const mcp = new McpIntegration({ servers, logger: log, ...options })
  const executor = new ToolExecutor(tools, { logger: log })
  mcp.start(tools)
  const status = (name?: string) => {
    const found = mcp.status().find(each => name === undefined || each.name === name)
    if (!found) throw new Error(`No server '${name}'`)
    return found
  }
  return { mcp, tools, executor, log, status, [Symbol.asyncDispose]: () => mcp.close() }
}

/** A hostile server called `hostile`, with a journal. */
export interface HostileHarness extends Harness {
  /** How often an event appears in the journal: `start`, `cancelled`, `call <tool>`. */
  count(event: string): number
  readonly journal: string
}

/** Starts a hostile server and waits until it is ready or has failed. */
export function startHostile(...given: Parameters<typeof hostileHarness>): Promise<HostileHarness> {
  return whenReady(hostileHarness(...given))
}

/** Starts a hostile server without waiting for it. */
export function hostileHarness(
  faults: HostileFaults = {},
  entry: Partial<ServerEntry> = {},
  options: Partial<McpIntegrationOptions> = {},
): HostileHarness {
  const folder = mkdtempSync(join(tmpdir(), 'toolpost-hostile-'))
  const journal = join(folder, 'journal')
  const harness = harnessFor(
    { hostile: { ...hostileServer({ journal, ...faults }), ...entry } as ServerEntry },
    options,
  )
  return {
    ...harness,
    journal,
    count: event => eventsIn(journal).filter(each => each === event).length,
    async [Symbol.asyncDispose]() {
      await harness.mcp.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Whether a process is running; zombies are not. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}
