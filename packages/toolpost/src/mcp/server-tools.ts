import { isDeepStrictEqual } from 'node:util'
import { safeText } from '../logging/safe-value.ts'
import type { Tool } from '../tools/tool.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import type { Clock } from '../util/clock.ts'
import { fitsGlob } from '../util/glob.ts'
import type { Connection, Listed } from './connection.ts'
import { LIST_MAX_PAUSE_MS, LIST_PAUSE_MS, MAX_LISTED } from './limits.ts'
import type { McpServer } from './mcp-server.ts'
import { mcpTool } from './mcp-tool.ts'
import type { ServerEntry } from './server-entry.ts'
import { describeError } from './server-failure.ts'
import { type McpToolDefinition, readDefinition } from './tool-definition.ts'

interface ServerToolsOptions {
  /** The server's position in the configuration. */
  order: number
  tools: ToolManager
  clock: Clock
  /** How long the server may take to connect, or to list its tools again. */
  connectTimeoutMs: number
}

/** How many log lines of one kind one list can cause. */
const MAX_LINES = 20

/** Keeps the tools of one server in the ToolManager in sync with what the server lists. */
export class ServerTools {
  /** The server's position in the configuration. */
  order: number
  readonly #server: McpServer
  readonly #options: ServerToolsOptions
  /** Tools were added, replaced or removed. */
  readonly #onChange: () => void
  #known = new Map<string, McpToolDefinition>()
  #isRefreshing = false
  #isStale = false

  constructor(server: McpServer, options: ServerToolsOptions, onChange: () => void) {
    this.#server = server
    this.#options = options
    this.#onChange = onChange
    this.order = options.order
  }

  /** Removes them all. */
  clear(): void {
    this.#options.tools.removeAll(this.names())
  }

  /** The names they are registered under. */
  names(): string[] {
    return this.#registered().map(tool => tool.name)
  }

  /** Adopts the tools of a new connection, including changes while it was being established. */
  adopt(connection: Connection): void {
    this.#update(connection.tools, connection)
    if (this.#isStale) this.refresh()
  }

  /** Lists the server's tools again, or once more if that is in progress; less and less often while they keep changing. */
  refresh(): void {
    this.#isStale = true
    if (!this.#isRefreshing) void this.#refreshUntilFresh()
  }

  async #refreshUntilFresh(): Promise<void> {
    const { clock } = this.#options
    this.#isRefreshing = true
    for (let pauseMs = LIST_PAUSE_MS; this.#isStale && this.#server.connection; pauseMs *= 2) {
      this.#isStale = false
      await this.#refreshOnce(this.#server.connection)
      await new Promise<void>(resolve =>
        clock.setTimer(resolve, Math.min(pauseMs, LIST_MAX_PAUSE_MS)).hold(false),
      )
    }
    this.#isRefreshing = false
  }

  async #refreshOnce(connection: Connection): Promise<void> {
    try {
      const signal = AbortSignal.timeout(this.#options.connectTimeoutMs)
      this.#update(await connection.list('tools', signal), connection)
    } catch (error) {
      const fields = { error: describeError(error) }
      this.#server.logger.warn(fields, 'Could not list the changed tools of an MCP server')
    }
  }

  /** Adds new tools, replaces changed ones and removes those that are gone; the rest is untouched. */
  #update(listed: Listed, connection: Connection): void {
    const { tools } = this.#options
    const { name: server, entry, logger } = this.#server
    if (connection !== this.#server.connection) return
    const definitions = this.#usable(listed, connection.mirrorsArguments)
    const known = this.#known
    this.#known = definitions
    const changed = [...definitions.values()].filter(each => !isDeepStrictEqual(known.get(each.name), each))
    const gone = this.#registered()
      .filter(tool => !definitions.has(tools.originOf(tool)?.name ?? tool.name))
      .map(tool => tool.name)
    if (gone.length > 0) {
      tools.removeAll(gone)
      const message = gone.length === 1 ? 'MCP tool removed' : `${gone.length} MCP tools removed`
      logger.info({ tools: gone.slice(0, MAX_LINES) }, message)
    }
    for (const after of changed.filter(({ name }) => known.has(name)).slice(0, MAX_LINES)) {
      const before: Readonly<Record<string, unknown>> = { ...known.get(after.name) }
      const keys = Object.keys({ ...before, ...after }) as (keyof McpToolDefinition)[]
      const changes = keys.filter(key => !isDeepStrictEqual(before[key], after[key]))
      const tool = safeText(after.name)
      logger.warn({ tool, changes }, `The definition of MCP tool '${tool}' changed`)
    }
    if (changed.length > 0)
      tools.addMcpTools(
        changed.map(definition => mcpTool(definition, this.#server)),
        { server, order: this.order, ...(entry.parameterNames && { parameterNames: entry.parameterNames }) },
      )
    if (gone.length + changed.length > 0) this.#onChange()
  }

  /** By name; of two tools with the same name, the later one. */
  #usable({ entries, isCut }: Listed, mirrorsArguments: boolean): Map<string, McpToolDefinition> {
    const { logger, entry: settings } = this.#server
    const usable = new Map<string, McpToolDefinition>()
    let lines = 0
    for (const entry of entries) {
      const definition = readDefinition(entry, { mirrorsArguments })
      if (typeof definition === 'string') {
        if (lines++ < MAX_LINES) logger.warn({ reason: safeText(definition) }, 'MCP tool skipped')
        continue
      }
      const { name } = definition
      if (!isOffered(name, settings)) continue
      if (definition.raw && lines++ < MAX_LINES)
        logger.warn({ tool: safeText(name) }, 'Invisible text was removed from the definition of an MCP tool')
      if (usable.has(name) && lines++ < MAX_LINES)
        logger.warn({ tool: safeText(name) }, 'MCP tool listed twice; using the later one')
      usable.set(name, definition)
    }
    if (lines > MAX_LINES) logger.warn({ repeated: lines - MAX_LINES }, 'More MCP tools skipped')
    if (isCut)
      logger.warn(
        { max_tools: MAX_LISTED },
        `The server lists more than ${MAX_LISTED} tools; the rest is left out`,
      )
    return usable
  }

  #registered(): Tool[] {
    const { tools } = this.#options
    return tools.getTools().filter(tool => tools.originOf(tool)?.server === this.#server.name)
  }
}

/** Whether a tool is offered: it matches `include` (or there is none) and does not match `exclude`. */
function isOffered(name: string, { include, exclude = [] }: ServerEntry): boolean {
  const fits = (globs: readonly string[]) => globs.some(glob => fitsGlob(name, glob))
  return (include === undefined || fits(include)) && !fits(exclude)
}
