import { setTimeout as delay } from 'node:timers/promises'
import type { Interceptor } from '../executor/chain.ts'
import { refusal } from '../interceptors/refuse.ts'
import type { Logger } from '../logging/logger.ts'
import type {
  Catalog,
  LoggedMessage,
  Logins,
  McpIntegration,
  ServerEntry,
  ServerStatus,
} from '../mcp/index.ts'
import { describeThrown } from '../runtime/quietly.ts'
import type { Sample } from '../tools/caller.ts'
import type { Tool } from '../tools/tool.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import type { ToolpostConfig } from './config.ts'
import type { Configuration } from './configuration.ts'
import { type ExampleHome, startExampleHome, ZWAVE_PACKAGE } from './example-home.ts'
import type { Part } from './part.ts'
import type { Reports } from './reports.ts'
import type { ResolvedConfig } from './resolve.ts'
import { loginsFolder, serverEntries, serverStatus } from './server-entries.ts'
import { withStarter } from './started-by.ts'

/** How long to wait for an earlier server that has not failed yet, since it takes precedence for a name. */
const GRACE_FOR_EARLIER_MS = 500

const MISSING_HOME = `The example home is not installed; continuing with local tools only. To add it, run: npm i ${ZWAVE_PACKAGE}`

export interface ServersOptions {
  tools: ToolManager
  catalog: Catalog
  /** Lets the project's model generate messages for servers. */
  sample: Sample
  logger: Logger
  reports: Reports
  configuration: Configuration
  /** A server changed. */
  onStatus(status: ServerStatus): void
  /** Nothing is started once this is aborted. */
  closing: AbortSignal
  homeProgram: string | undefined
  /** A server that fails is not retried. */
  triesOnce: boolean | undefined
}

/** The MCP servers of a project, and the home of the built-in example: started when they are first needed. */
export class Servers implements Part {
  readonly #options: ServersOptions
  #home: Promise<ExampleHome | undefined> | undefined
  #starting: Promise<McpIntegration | undefined> | undefined
  #mcp: McpIntegration | undefined
  /** Tools that did not appear in time, with the wait and the server that was waited for, if it was a certain one. */
  readonly #awaited = new Map<string, { limitMs: number; server: string | undefined }>()
  /** Why they could not be started; `undefined` if they could. */
  problem: string | undefined

  constructor(options: ServersOptions) {
    this.#options = options
  }

  get isStarted(): boolean {
    return this.#starting !== undefined
  }

  start(): Promise<McpIntegration | undefined> {
    if (!this.#options.closing.aborted) this.#starting ??= this.#open()
    return this.#starting ?? Promise.resolve(undefined)
  }

  status(): ServerStatus[] {
    const isOver = this.#options.closing.aborted || this.problem !== undefined
    const isStarting = this.#starting !== undefined && !this.#mcp && !isOver
    return serverStatus(this.#options.configuration.current, this.#mcp?.status() ?? [], isStarting)
  }

  /** The logins to the servers, once those have been started. */
  get logins(): Logins | undefined {
    return this.#mcp?.logins
  }

  messages(server: string, options: { after?: number | undefined }): LoggedMessage[] {
    return this.#mcp?.messages(server, options) ?? []
  }

  async restart(server: string): Promise<void> {
    await this.#started(server).restart(server)
  }

  async stop(server: string): Promise<void> {
    await this.#started(server).stop(server)
  }

  #started(server: string): McpIntegration {
    if (this.#mcp) return this.#mcp
    throw new Error(`There is no MCP server '${server}'`)
  }

  /** Starts them. Resolves when all of them, or the named one, are ready or have failed; never rejects. */
  async ready(name?: string): Promise<void> {
    const mcp = await this.start()
    await mcp?.ready(name)
  }

  /**
   * Waits until a tool appears or no server that may have it is still starting, for at most `limitMs`. Resolves to the name
   * under which it is registered, which may be given as `server__tool` too; to what was given if there is none.
   */
  async waitForTool(given: string, limitMs?: number): Promise<string> {
    const found = this.#named(given)
    const mcp = found ? undefined : await this.start()
    if (!mcp) return found?.name ?? given
    const isOf = (name: string) => given.startsWith(`${name}__`) || given.startsWith(`${name}.`)
    const server = mcp.status().find(({ name }) => isOf(name))?.name
    const { tools } = this.#options
    let stop = () => {}
    const appears = new Promise<void>(resolve => {
      stop = tools.onChange(() => this.#named(given) && resolve())
    })
    await inTime([mcp.ready(server), appears], limitMs)
    stop()
    const tool = this.#named(given)
    const earlier = mcp.status().slice(0, (tool && tools.originOf(tool)?.order) ?? 0)
    await inTime([Promise.all(earlier.map(({ name }) => mcp.tried(name)))], GRACE_FOR_EARLIER_MS)
    this.#awaited.set(given, { limitMs: limitMs ?? 0, server })
    return this.#named(given)?.name ?? given
  }

  #named(given: string): Tool | undefined {
    const { tools } = this.#options
    const isMeant = (tool: Tool) => {
      const { server, name } = tools.originOf(tool) ?? {}
      return server !== undefined && [`${server}__${name}`, `${server}.${name}`].includes(given)
    }
    return tools.findTool(given) ?? tools.getTools().find(isMeant)
  }

  /** While the server that may have it is still starting, a tool that did not appear in time has timed out. */
  readonly answerAwaited: Interceptor = async (call, next) => {
    const wait = call.failure?.code === 'unknown_tool' ? this.#awaited.get(call.name) : undefined
    const starting = this.status().filter(
      ({ name, state }) => state === 'starting' && (wait?.server ?? name) === name,
    )
    if (!wait || starting.length === 0) return next()
    const causes = starting.map(({ name }) => `Server '${name}' is still starting`)
    const failure = refusal(call, 'timeout', `Tool '${call.name}' timed out after ${wait.limitMs} ms`)
    return { ...failure, diagnosis: { causes } }
  }

  /**
   * Like `ready`, but waits only for the first attempt of each server, and for at most `limitMs`. If one is named, problems
   * are reported only if it is not ready.
   */
  async tried(name?: string, limitMs?: number): Promise<void> {
    const wait = async () => {
      const mcp = await this.start()
      if (mcp) await inTime([mcp.tried(name)], limitMs)
    }
    if (name === undefined) return wait()
    await this.#options.reports.unless(() => this.#isReady(name), wait)
  }

  #isReady(name: string): boolean {
    return this.status().some(server => server.name === name && server.state === 'ready')
  }

  /** How a server is configured. */
  async entryOf(server: string): Promise<ServerEntry | undefined> {
    return serverEntries(this.#options.configuration.current, await this.#home)[server]
  }

  /** The home of the built-in example, started now if necessary; `undefined` if there is none. */
  home(): Promise<ExampleHome | undefined> {
    const { file } = this.#options.configuration.current
    this.#home ??= file === undefined ? this.#startHome() : Promise.resolve(undefined)
    return this.#home
  }

  /** If that fails, all other tools still work. */
  async #startHome(): Promise<ExampleHome | undefined> {
    const { homeProgram: program, closing: signal, reports } = this.#options
    try {
      const home = await startExampleHome({ program, signal })
      if (!home) reports.add(MISSING_HOME)
      return home
    } catch (error) {
      if (signal.aborted) return undefined
      this.problem = (error as Error).message
      reports.add(`The example home could not be started; continuing with local tools only: ${this.problem}`)
      return undefined
    }
  }

  async apply({ config, file, brokenServers }: ResolvedConfig, before: ResolvedConfig): Promise<void> {
    if (!this.#starting) return
    await this.#starting
    this.#reportBroken(brokenServers, before.brokenServers)
    const home = file === undefined ? await this.home() : undefined
    if (this.#mcp) this.#mcp.apply({ ...this.#patience(config), servers: this.#entries(home) })
    else this.#starting = this.#begin(home)
    if (!home) await this.#endHome()
  }

  #reportBroken(now: Readonly<Record<string, string>>, before: Readonly<Record<string, string>> = {}): void {
    for (const [name, problem] of Object.entries(now))
      if (before[name] !== problem)
        this.#options.reports.add(`❌ Server '${name}' cannot be started: ${problem}`)
  }

  #entries(home: ExampleHome | undefined): Record<string, ServerEntry> {
    const { current } = this.#options.configuration
    const entries = Object.entries(serverEntries(current, home))
    return Object.fromEntries(entries.map(([name, entry]) => [name, withStarter(entry, current.file)]))
  }

  #patience({ mcp }: ToolpostConfig): ToolpostConfig['mcp'] {
    return this.#options.triesOnce ? { ...mcp, retry: { ...mcp?.retry, attempts: 1 } } : mcp
  }

  async close(): Promise<void> {
    try {
      const mcp = await this.#starting
      await mcp?.close()
    } finally {
      await this.#endHome()
    }
  }

  async #endHome(): Promise<void> {
    const home = await this.#home
    this.#home = this.problem = undefined
    await home?.close()
  }

  async #open(): Promise<McpIntegration | undefined> {
    const { configuration } = this.#options
    await configuration.answerInputs()
    this.#reportBroken(configuration.current.brokenServers)
    return this.#begin(await this.home())
  }

  /** If the servers cannot even be created, that is reported as a problem, and the rest continues. */
  async #begin(home: ExampleHome | undefined): Promise<McpIntegration | undefined> {
    const { tools, catalog, sample, logger, reports, onStatus, closing, configuration } = this.#options
    try {
      const servers = this.#entries(home)
      if (Object.keys(servers).length === 0) return undefined
      const { McpIntegration } = await import('../mcp/index.ts')
      if (closing.aborted) return undefined
      const mcp = new McpIntegration({
        ...this.#patience(configuration.config),
        ...{ servers, catalog, sample, logger, loginsFolder: loginsFolder(configuration.current) },
        onReport: report => reports.add(report),
      })
      mcp.on('server', onStatus)
      mcp.start(tools)
      this.#mcp = mcp
      return mcp
    } catch (error) {
      this.problem = describeThrown(error)
      return undefined
    }
  }
}

/** Resolves with the first of `events`, or after `limitMs`. */
async function inTime(events: readonly Promise<unknown>[], limitMs: number | undefined): Promise<void> {
  const limit = limitMs === undefined ? [] : [delay(limitMs, undefined, { ref: false })]
  await Promise.race([...events, ...limit])
}
