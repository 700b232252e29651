import type { Logger } from '../logging/logger.ts'
import { safeText } from '../logging/safe-value.ts'
import type { Clock } from '../runtime/clock.ts'
import { fitsGlob } from '../runtime/glob.ts'
import type { Tool } from '../tools/tool.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import type { Connection } from './connection.ts'
import { LIST_MAX_PAUSE_MS, LIST_PAUSE_MS, MAX_TOOLS } from './limits.ts'
import type { McpServer } from './mcp-server.ts'
import { mcpTool } from './mcp-tool.ts'
import type { ServerEntry } from './server-entry.ts'
import { describeError } from './server-failure.ts'
import { describeChanges, type McpToolDefinition, readDefinition } from './tool-definition.ts'

interface ServerToolsOptions {
  /** The server's position in the configuration. */
  order: number
  tools: ToolManager
  clock: Clock
  /** How long the server may take to connect, or to list its tools again. */
  connectTimeoutMs: number
}

type Line = [fields: object, message: string]

/** How many log lines of one kind one list can cause. */
const MAX_LINES = 20

/** Keeps the tools of one server in the ToolManager in sync with what the server lists. */
export class ServerTools {
  readonly #server: McpServer
  readonly #options: ServerToolsOptions
  /** Tools were added, replaced or removed. */
  readonly #onChange: () => void
  readonly #known = new Map<string, McpToolDefinition>()
  #isRefreshing = false
  #isStale = false

  /** The server's position in the configuration. */
  order: number

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

  /**
   * Lists the server's tools again, or once more if that is in progress. A server that keeps changing them is listed less
   * and less often.
   */
  refresh(): void {
    this.#isStale = true
    if (!this.#isRefreshing) void this.#refreshUntilFresh()
  }

  async #refreshUntilFresh(): Promise<void> {
    this.#isRefreshing = true
    for (let pauseMs = LIST_PAUSE_MS; this.#isStale && this.#server.connection; pauseMs *= 2) {
      this.#isStale = false
      await this.#refreshOnce(this.#server.connection)
      await this.#pause(Math.min(pauseMs, LIST_MAX_PAUSE_MS))
    }
    this.#isRefreshing = false
  }

  #pause(ms: number): Promise<void> {
    return new Promise(resolve => this.#options.clock.setTimer(resolve, ms).hold(false))
  }

  async #refreshOnce(connection: Connection): Promise<void> {
    try {
      const { entries } = await connection.list('tools', AbortSignal.timeout(this.#options.connectTimeoutMs))
      this.#update(entries, connection)
    } catch (error) {
      const fields = { error: safeText(describeError(error)) }
      this.#logger.warn(fields, 'Could not list the changed tools of an MCP server')
    }
  }

  get #logger(): Logger {
    return this.#server.log.logger
  }

  /** Adds new tools, replaces changed ones and removes those that are gone; the rest is untouched. */
  #update(entries: readonly unknown[], connection: Connection): void {
    if (connection !== this.#server.connection) return
    const definitions = this.#usable(entries, connection.mirrorsArguments)
    const fresh = this.#freshOf(definitions)
    const gone = this.#removeGone(definitions)
    if (fresh.length > 0) this.#add(fresh)
    if (gone.length > 0) this.#logger.info({ tools: gone.slice(0, MAX_LINES) }, goneText(gone.length))
    if (gone.length + fresh.length > 0) this.#onChange()
  }

  /** By name; of two tools with the same name, the later one. */
  #usable(entries: readonly unknown[], mirrorsArguments: boolean): Map<string, McpToolDefinition> {
    const usable = new Map<string, McpToolDefinition>()
    const skipped: Line[] = []
    const duplicates: Line[] = []
    for (const entry of entries.slice(0, MAX_TOOLS)) {
      const definition = readDefinition(entry, { mirrorsArguments })
      if (typeof definition === 'string') {
        skipped.push([{ reason: safeText(definition) }, 'MCP tool skipped'])
        continue
      }
      if (!isOffered(definition.name, this.#server.entry)) continue
      if (usable.has(definition.name))
        duplicates.push([{ tool: safeText(definition.name) }, 'MCP tool listed twice; using the later one'])
      usable.set(definition.name, definition)
    }
    this.#warn(skipped, 'MCP tools skipped')
    this.#warn(duplicates, 'MCP tools listed twice')
    if (entries.length > MAX_TOOLS) {
      const message = `The server lists more than ${MAX_TOOLS} tools; the rest is left out`
      this.#logger.warn({ max_tools: MAX_TOOLS }, message)
    }
    return usable
  }

  #removeGone(definitions: ReadonlyMap<string, McpToolDefinition>): string[] {
    const { tools } = this.#options
    const gone = this.#registered().filter(tool => {
      const name = tools.originOf(tool)?.name ?? tool.name
      // It may come from a previous connection with a different configuration.
      if (!definitions.has(name)) this.#known.delete(name)
      return !definitions.has(name)
    })
    const names = gone.map(tool => tool.name)
    if (names.length > 0) tools.removeAll(names)
    return names
  }

  #freshOf(definitions: ReadonlyMap<string, McpToolDefinition>): McpToolDefinition[] {
    const fresh: McpToolDefinition[] = []
    const changed: Line[] = []
    for (const definition of definitions.values()) {
      const before = this.#known.get(definition.name)
      const changes = before ? describeChanges(before, definition) : []
      if (!before || changes.length > 0) fresh.push(definition)
      const message = `The definition of MCP tool '${safeText(definition.name)}' changed`
      if (changes.length > 0) changed.push([{ tool: safeText(definition.name), changes }, message])
    }
    this.#warn(changed, 'definitions of MCP tools changed')
    return fresh
  }

  #add(definitions: readonly McpToolDefinition[]): void {
    const { name: server, entry } = this.#server
    const { parameterNames } = entry
    for (const definition of definitions) this.#known.set(definition.name, definition)
    const added = definitions.map(definition => mcpTool(definition, this.#server))
    this.#options.tools.addMcpTools(added, {
      server,
      order: this.order,
      ...(parameterNames && { parameterNames }),
    })
  }

  #warn(lines: readonly Line[], what: string): void {
    for (const line of lines.slice(0, MAX_LINES)) this.#logger.warn(...line)
    const more = lines.length - MAX_LINES
    if (more > 0) this.#logger.warn({ repeated: more }, `${more} more ${what}`)
  }

  #registered(): Tool[] {
    const { tools } = this.#options
    return tools.getTools().filter(tool => tools.originOf(tool)?.server === this.#server.name)
  }
}

function goneText(count: number): string {
  return count === 1 ? 'MCP tool removed' : `${count} MCP tools removed`
}

/** Whether a tool is offered: it matches `include` (or there is none) and does not match `exclude`. */
function isOffered(name: string, { include, exclude = [] }: ServerEntry): boolean {
  const fits = (globs: readonly string[]) => globs.some(glob => fitsGlob(name, glob))
  return (include === undefined || fits(include)) && !fits(exclude)
}
