import type { ToolpostConfig } from '../config/config.ts'
import type { ExampleHome } from '../config/example-home.ts'
import type { Logger } from '../logging/logger.ts'
import type { McpIntegration, ServerEntry, ServerStatus } from '../mcp/index.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import { say, type Terminal } from './terminal.ts'

interface ServersOptions {
  config: ToolpostConfig
  /** The built-in example has a Z-Wave server and a home for it. */
  isExample: boolean
  tools: ToolManager
  logger: Logger
  terminal: Terminal
}

/** The MCP servers of a session: nothing is loaded or started until a command needs them. */
export class Servers {
  readonly #options: ServersOptions
  #home: ExampleHome | undefined
  #mcp: McpIntegration | undefined
  #entries: Readonly<Record<string, ServerEntry>> = {}

  constructor(options: ServersOptions) {
    this.#options = options
  }

  /** The home of the built-in example, once it is started. */
  get home(): ExampleHome | undefined {
    return this.#home
  }

  /** What is configured for a server that was started. */
  entryOf(name: string): ServerEntry | undefined {
    return this.#entries[name]
  }

  /** Starts every server; their tools appear as they become ready. */
  async start(): Promise<McpIntegration | undefined> {
    if (this.#mcp) return this.#mcp
    const servers = await this.#readEntries()
    this.#entries = servers
    if (Object.keys(servers).length === 0) return undefined
    const { McpIntegration } = await import('../mcp/index.ts')
    const { config, tools, logger, terminal } = this.#options
    const onReport = (report: string) => say(terminal, report)
    this.#mcp = new McpIntegration({ ...config.mcp, servers, logger, onReport })
    this.#mcp.start(tools)
    return this.#mcp
  }

  /** Starts every server and waits until each is ready or has failed. */
  async ready(): Promise<ServerStatus[]> {
    const mcp = await this.start()
    await mcp?.ready()
    return mcp?.status() ?? []
  }

  /**
   * Waits for a tool that is not there yet. Servers are waited for in the order of the configuration, because that
   * is the order in which names are given: a later server cannot take the name of an earlier one.
   */
  async find(tool: string): Promise<void> {
    const { tools } = this.#options
    if (tools.findTool(tool)) return
    const mcp = await this.start()
    for (const { name } of mcp?.status() ?? []) {
      await mcp?.ready(name)
      if (tools.findTool(tool)) return
    }
  }

  async close(): Promise<void> {
    await this.#mcp?.close()
    await this.#home?.close()
  }

  async #readEntries(): Promise<Record<string, ServerEntry>> {
    const { config, isExample } = this.#options
    const entries: Record<string, ServerEntry> = { ...config.mcpServers }
    if (isExample) {
      const { startExampleHome } = await import('../config/example-home.ts')
      this.#home = await startExampleHome()
      if (this.#home) entries.zwave = this.#home.server
    }
    return entries
  }
}
