import type { Logger } from '../logging/logger.ts'
import { safeText } from '../logging/safe-value.ts'
import type { Tool } from '../tools/tool.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import { McpTool, type ToolServer } from './mcp-tool.ts'
import { describeError } from './server-failure.ts'
import type { ServerLink } from './server-link.ts'
import { describeChanges } from './tool-changes.ts'
import { type McpToolDefinition, readDefinition } from './tool-definition.ts'
import { isOffered } from './tool-filter.ts'

export interface ServerToolsOptions {
  name: string
  /** The server's place in the configuration. */
  order: number
  server: ToolServer
  tools: ToolManager
  logger: Logger
  /** How long the server may take to list its tools again. */
  listTimeoutMs: number
}

/** The tools of one server in the ToolManager, kept in line with what the server says there are. */
export class ServerTools {
  readonly #options: ServerToolsOptions
  #known = new Map<string, McpToolDefinition>()
  #isRefreshing = false
  #isStale = false

  constructor(options: ServerToolsOptions) {
    this.#options = options
  }

  /** The names that they are registered under. */
  names(): string[] {
    return this.#registered().map(tool => tool.name)
  }

  /** Takes over the tools of a new connection, and what changed in them while it was made. */
  adopt(entries: readonly unknown[]): void {
    this.#update(entries)
    if (this.#isStale) this.refresh()
  }

  /** Adds what is new, replaces what changed, removes what is gone. What stayed the same is not touched. */
  #update(entries: readonly unknown[]): void {
    const definitions = this.#usable(entries)
    const before = this.#known
    this.#known = new Map(definitions.map(definition => [definition.name, definition]))
    this.#removeGone(before)
    const fresh = definitions.filter(definition => this.#isFresh(definition, before.get(definition.name)))
    const { name: server, order, server: owner, tools } = this.#options
    const { parameterNames } = owner.entry
    const added = fresh.map(definition => new McpTool(definition, owner))
    tools.addMcpTools(added, { server, order, ...(parameterNames && { parameterNames }) })
  }

  /** Looks at the server's tools again; once more if they change while it looks. */
  refresh(): void {
    this.#isStale = true
    if (!this.#isRefreshing) void this.#refreshUntilFresh()
  }

  async #refreshUntilFresh(): Promise<void> {
    const { server } = this.#options
    this.#isRefreshing = true
    while (this.#isStale && server.link) {
      this.#isStale = false
      await this.#refreshOnce(server.link)
    }
    this.#isRefreshing = false
  }

  async #refreshOnce(link: ServerLink): Promise<void> {
    const { server, logger, listTimeoutMs } = this.#options
    try {
      const entries = await link.listTools(listTimeoutMs)
      if (link === server.link) this.#update(entries)
    } catch (error) {
      logger.warn(
        { error: safeText(describeError(error)) },
        'The changed tools of an MCP server could not be listed',
      )
    }
  }

  #usable(entries: readonly unknown[]): McpToolDefinition[] {
    return entries.flatMap(entry => {
      const definition = readDefinition(entry)
      if (typeof definition !== 'string')
        return isOffered(definition.name, this.#options.server.entry) ? [definition] : []
      this.#options.logger.warn({ reason: safeText(definition) }, 'MCP tool skipped')
      return []
    })
  }

  #removeGone(before: ReadonlyMap<string, McpToolDefinition>): void {
    const { tools, logger } = this.#options
    const isGone = (name: string) => before.has(name) && !this.#known.has(name)
    const gone = this.#registered().filter(tool => isGone(tools.originOf(tool)?.name ?? tool.name))
    tools.removeAll(gone.map(tool => tool.name))
    for (const tool of gone) logger.info({ tool: tool.name }, 'MCP tool is gone')
  }

  #isFresh(definition: McpToolDefinition, before: McpToolDefinition | undefined): boolean {
    if (!before) return true
    const changes = describeChanges(before, definition)
    if (changes.length > 0) {
      this.#options.logger.warn(
        { tool: definition.name, changes },
        `The definition of MCP tool '${safeText(definition.name)}' changed`,
      )
    }
    return changes.length > 0
  }

  #registered(): Tool[] {
    const { tools, name } = this.#options
    return tools.getTools().filter(tool => tools.originOf(tool)?.server === name)
  }
}
