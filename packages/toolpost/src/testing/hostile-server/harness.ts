import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ToolExecutor } from '../../executor/tool-executor.ts'
import { LOG_LEVELS, type Logger, type LogLevel } from '../../logging/logger.ts'
import { McpIntegration, type McpIntegrationOptions } from '../../mcp/mcp-integration.ts'
import type { ServerEntry } from '../../mcp/server-entry.ts'
import type { ServerStatus } from '../../mcp/server-status.ts'
import { ToolManager } from '../../tools/tool-manager.ts'
import { type HostileFaults, hostileServer } from './hostile-server.ts'

interface LoggedRecord {
  level: LogLevel
  message: string
  fields: Record<string, unknown>
}

/** A logger that can be waited on: for tests, a log line is an event. */
export interface WatchedLogger extends Logger {
  readonly records: LoggedRecord[]
  /** Resolves with the record whose message contains `text`: the first, or the one of that number. */
  logged(text: string, number?: number): Promise<LoggedRecord>
  messages(level?: LogLevel): string[]
}

export function watchedLogger(): WatchedLogger {
  const records: LoggedRecord[] = []
  const waiting = new Set<() => void>()
  const make = (bindings: Record<string, unknown>): WatchedLogger => {
    const writer =
      (level: LogLevel) =>
      (fields: object, message = '') => {
        records.push({ level, message, fields: { ...bindings, ...fields } })
        for (const look of waiting) look()
      }
    return {
      level: 'debug',
      records,
      isLevelEnabled: level => LOG_LEVELS.includes(level),
      debug: writer('debug'),
      info: writer('info'),
      warn: writer('warn'),
      error: writer('error'),
      child: more => make({ ...bindings, ...more }),
      messages: level =>
        records.filter(record => !level || record.level === level).map(record => record.message),
      logged: (text, number = 1) =>
        new Promise(resolve => {
          const look = () => {
            const found = records.filter(record => record.message.includes(text))[number - 1]
            if (!found) return
            waiting.delete(look)
            resolve(found)
          }
          waiting.add(look)
          look()
        }),
    }
  }
  return make({})
}

/** Servers with everything around them, for a test. */
export interface Harness {
  mcp: McpIntegration
  tools: ToolManager
  executor: ToolExecutor
  log: WatchedLogger
  status(name?: string): ServerStatus
  [Symbol.asyncDispose](): Promise<void>
}

/** Starts servers and waits until each is ready or has failed. */
export async function startServers(
  servers: Record<string, ServerEntry>,
  options: Partial<McpIntegrationOptions> = {},
): Promise<Harness> {
  const harness = harnessFor(servers, options)
  await harness.mcp.ready()
  return harness
}

/** Starts servers and waits for nothing. */
export function harnessFor(
  servers: Record<string, ServerEntry>,
  options: Partial<McpIntegrationOptions> = {},
): Harness {
  const log = watchedLogger()
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
  /** How often something stands in the journal: `start`, `cancelled`, `call <tool>`. */
  count(event: string): number
  readonly journal: string
}

/** Starts a hostile server and waits until it is ready or has failed. */
export async function startHostile(...given: Parameters<typeof hostileHarness>): Promise<HostileHarness> {
  const harness = hostileHarness(...given)
  await harness.mcp.ready()
  return harness
}

/** Starts a hostile server and waits for nothing. */
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
    count: event =>
      readFileSync(journal, 'utf8')
        .split('\n')
        .filter(line => line === event).length,
    async [Symbol.asyncDispose]() {
      await harness.mcp.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Whether a process runs; the dead that nobody has collected do not. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}
