import { setTimeout as delay } from 'node:timers/promises'
import type { ToolpostConfig } from '../config/config.ts'
import { ZWAVE_SERVER } from '../known-servers/zwave.ts'
import type { Logger } from '../logging/logger.ts'
import type { McpIntegration, ServerEntry, ServerStatus } from '../mcp/index.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import type { ExampleHome } from './example-home.ts'

export interface ServersOptions {
  config: ToolpostConfig
  /** The built-in example has a Z-Wave server and a home for it. */
  isExample: boolean
  tools: ToolManager
  logger: Logger
  /** Told what a person should know: why a server could not be had. */
  say(text: string): void
  /** The program of the virtual home, if it is not the usual one. */
  homeProgram?: string | undefined
}

/** How long a server is waited for that could have the better right to a name. */
const GRACE_FOR_EARLIER_MS = 3_000

/** Resolves with the first of `events`, and after `limitMs` in any case. */
async function inTime(events: readonly Promise<unknown>[], limitMs: number | undefined): Promise<void> {
  const limit = limitMs === undefined ? [] : [delay(limitMs, undefined, { ref: false })]
  await Promise.race([...events, ...limit])
}

/** The MCP servers of a project: nothing is loaded or started until a command needs them. */
export class Servers {
  /** Reports that wait until it is known whether they matter. */
  #heldReports: string[] | undefined
  readonly #options: ServersOptions
  #home: ExampleHome | undefined
  #homeProblem: string | undefined
  #starting: Promise<McpIntegration | undefined> | undefined
  #mcp: McpIntegration | undefined
  readonly #closing = new AbortController()
  #entries: Readonly<Record<string, ServerEntry>> = {}

  constructor(options: ServersOptions) {
    this.#options = options
  }

  /** The home of the built-in example, once it is started. */
  get home(): ExampleHome | undefined {
    return this.#home
  }

  /** Why the built-in example has no home, if it could not be started. */
  get homeProblem(): string | undefined {
    return this.#homeProblem
  }

  /** How the servers are that were started, in the order of the configuration. */
  status(): ServerStatus[] {
    return this.#mcp?.status() ?? []
  }

  /** What is configured for a server that was started. */
  entryOf(name: string): ServerEntry | undefined {
    return this.#entries[name]
  }

  /** Starts every server, once; their tools appear as they become ready. */
  start(): Promise<McpIntegration | undefined> {
    this.#starting ??= this.#start()
    return this.#starting
  }

  /** Starts every server and waits until each is ready or has failed. */
  async ready(): Promise<ServerStatus[]> {
    const mcp = await this.start()
    await mcp?.ready()
    return mcp?.status() ?? []
  }

  /**
   * Waits for a tool that is not there yet, for `limitMs` at most. Servers that come earlier in the configuration get a
   * moment more, because theirs is the name where two have it. What ails other servers is told only if it is not found.
   */
  async find(tool: string, limitMs?: number): Promise<void> {
    const { tools, say } = this.#options
    if (tools.findTool(tool)) return
    this.#heldReports = []
    const mcp = await this.start()
    if (mcp) await inTime([mcp.ready(), this.#appearanceOf(tool)], limitMs)
    const found = tools.findTool(tool)
    const order = found && tools.originOf(found)?.order
    const earlier = (mcp?.status() ?? []).slice(0, order ?? 0)
    await inTime([Promise.all(earlier.map(({ name }) => mcp?.ready(name)))], GRACE_FOR_EARLIER_MS)
    if (!found) for (const report of this.#heldReports) say(report)
    this.#heldReports = undefined
  }

  #appearanceOf(name: string): Promise<void> {
    const { tools } = this.#options
    return new Promise(resolve => {
      const stop = tools.onChange(() => {
        if (!tools.findTool(name)) return
        stop()
        resolve()
      })
    })
  }

  /** Ends what was started, also while it is starting. Nothing can be started afterwards. */
  async close(): Promise<void> {
    this.#closing.abort()
    const mcp = await this.#starting?.catch(() => undefined)
    await mcp?.close()
    await this.#home?.close()
  }

  async #start(): Promise<McpIntegration | undefined> {
    const servers = await this.#readEntries()
    this.#entries = servers
    if (Object.keys(servers).length === 0) return undefined
    const { McpIntegration } = await import('../mcp/index.ts')
    if (this.#closing.signal.aborted) return undefined
    const { config, tools, logger, say } = this.#options
    const onReport = (report: string) => {
      if (this.#heldReports) this.#heldReports.push(report)
      else say(report)
    }
    const mcp = new McpIntegration({ ...config.mcp, servers, logger, onReport })
    mcp.start(tools)
    this.#mcp = mcp
    return mcp
  }

  async #readEntries(): Promise<Record<string, ServerEntry>> {
    const { config, isExample } = this.#options
    const entries: Record<string, ServerEntry> = { ...config.mcpServers }
    if (isExample) this.#home = await this.#startHome()
    if (this.#home) entries[ZWAVE_SERVER] = this.#home.server
    return entries
  }

  /** A home that cannot be had takes no other tools with it. */
  async #startHome(): Promise<ExampleHome | undefined> {
    const { homeProgram, say } = this.#options
    const { signal } = this.#closing
    try {
      const { startExampleHome } = await import('./example-home.ts')
      return await startExampleHome({ program: homeProgram, signal })
    } catch (error) {
      if (signal.aborted) return undefined
      this.#homeProblem = (error as Error).message
      say(`The example home could not be started, so there are local tools only: ${this.#homeProblem}`)
      return undefined
    }
  }
}
