import type { ToolpostConfig } from '../config/config.ts'
import { ZWAVE_PACKAGE } from '../known-servers/zwave.ts'
import type { Logger } from '../logging/logger.ts'
import type { Catalog, Logins, McpIntegration, ServerEntry, ServerStatus } from '../mcp/index.ts'
import { describeThrown } from '../runtime/quietly.ts'
import type { Sample } from '../tools/caller.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import type { Configuration } from './configuration.ts'
import type { ExampleHome } from './example-home.ts'
import type { Description } from './open-project.ts'
import type { Part } from './part.ts'
import type { Reports } from './reports.ts'
import { serverEntries, serverOptions, serverStatus } from './server-entries.ts'
import { withStarter } from './started-by.ts'
import { inTime, waitForServer } from './wait-for-tool.ts'

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

  /** Like `ready` for the server of a tool, for at most `limitMs`; problems of others are reported only if it is not ready. */
  waitFor(server: string, tool: string, limitMs?: number): Promise<void> {
    const { tools, reports } = this.#options
    const wait = async () => {
      const mcp = await this.start()
      if (mcp) await waitForServer(server, tool, { tools, mcp, limitMs })
    }
    return reports.unless(() => this.#isReady(server), wait)
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
      const { startExampleHome } = await import('./example-home.ts')
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

  async apply({ brokenServers, config, file }: Description, before: Description): Promise<void> {
    if (!this.#starting) return
    const { reports } = this.#options
    await this.#starting
    for (const [name, problem] of Object.entries(brokenServers))
      if (before.brokenServers[name] !== problem) reports.add(brokenText(name, problem))
    const home = file === undefined ? await this.home() : undefined
    if (this.#mcp) this.#mcp.apply({ ...this.#patience(config), servers: this.#entries(home) })
    else this.#starting = this.#begin(home)
    if (!home) await this.#endHome()
  }

  #entries(home: ExampleHome | undefined): Record<string, ServerEntry> {
    const description = this.#options.configuration.current
    const entries = Object.entries(serverEntries(description, home))
    return Object.fromEntries(entries.map(([name, entry]) => [name, withStarter(entry, description.file)]))
  }

  #patience({ mcp }: ToolpostConfig): ToolpostConfig['mcp'] {
    return this.#options.triesOnce ? { ...mcp, retry: { ...mcp?.retry, attempts: 1 } } : mcp
  }

  async close(): Promise<void> {
    const mcp = await this.#starting
    await mcp?.close()
    await this.#endHome()
  }

  async #endHome(): Promise<void> {
    const home = await this.#home
    this.#home = this.problem = undefined
    await home?.close()
  }

  async #open(): Promise<McpIntegration | undefined> {
    const { configuration, reports } = this.#options
    await configuration.answerInputs()
    for (const [name, problem] of Object.entries(configuration.current.brokenServers))
      reports.add(brokenText(name, problem))
    return this.#begin(await this.home())
  }

  /** If the servers cannot even be created, that is reported as a problem, and the rest continues. */
  async #begin(home: ExampleHome | undefined): Promise<McpIntegration | undefined> {
    const { tools, catalog, sample, logger, reports, onStatus, closing, configuration } = this.#options
    const { config, file } = configuration.current
    try {
      const servers = this.#entries(home)
      if (Object.keys(servers).length === 0) return undefined
      const { McpIntegration } = await import('../mcp/index.ts')
      if (closing.aborted) return undefined
      const onReport = (report: string) => reports.add(report)
      const more = { servers, catalog, onReport, sample, ...this.#patience(config) }
      const mcp = new McpIntegration({ ...serverOptions({ config, file, logger }), ...more })
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

const MISSING_HOME = `The example home is not installed; continuing with local tools only. To add it, run: npm i ${ZWAVE_PACKAGE}`

function brokenText(name: string, problem: string): string {
  return `❌ Server '${name}' cannot be started: ${problem}`
}
