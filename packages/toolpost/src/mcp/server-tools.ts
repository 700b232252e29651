import type { Logger } from '../logging/logger.ts'
import { safeText } from '../logging/safe-value.ts'
import type { Clock } from '../runtime/clock.ts'
import { inSlices } from '../runtime/slices.ts'
import type { Tool } from '../tools/tool.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import { LIST_MAX_PAUSE_MS, LIST_PAUSE_MS, MAX_TOOLS } from './limits.ts'
import { mcpTool, type ToolServer } from './mcp-tool.ts'
import { listAll } from './sdk-client.ts'
import { describeError } from './server-failure.ts'
import type { ServerLink } from './server-link.ts'
import { describeChanges } from './tool-changes.ts'
import { type McpToolDefinition, readDefinition } from './tool-definition.ts'
import { isOffered } from './tool-filter.ts'

export interface ServerToolsOptions {
  name: string
  /** The server's position in the configuration. */
  order: number
  server: ToolServer
  tools: ToolManager
  logger: Logger
  clock: Clock
  /** How long the server may take to connect, or to list its tools again. */
  connectTimeoutMs: number
  /** Tools were added, replaced or removed. */
  onChange(): void
}

type Line = [fields: object, message: string]

const BATCH = 200
/** How many log lines of one kind one list can cause. */
const MAX_LINES = 20

/** Keeps the tools of one server in the ToolManager in sync with what the server lists. */
export class ServerTools {
  readonly #options: ServerToolsOptions
  readonly #known = new Map<string, McpToolDefinition>()
  #isRefreshing = false
  #isStale = false

  /** The server's position in the configuration. */
  order: number

  constructor(options: ServerToolsOptions) {
    this.#options = options
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
  async adopt(link: ServerLink): Promise<void> {
    await this.#update(link.tools, link)
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
    const { server } = this.#options
    this.#isRefreshing = true
    for (let pauseMs = LIST_PAUSE_MS; this.#isStale && server.link; pauseMs *= 2) {
      this.#isStale = false
      await this.#refreshOnce(server.link)
      await this.#pause(Math.min(pauseMs, LIST_MAX_PAUSE_MS))
    }
    this.#isRefreshing = false
  }

  #pause(ms: number): Promise<void> {
    return new Promise(resolve => this.#options.clock.setTimer(resolve, ms).hold(false))
  }

  async #refreshOnce(link: ServerLink): Promise<void> {
    const { logger, connectTimeoutMs } = this.#options
    try {
      const { entries } = await listAll(link, 'tools', AbortSignal.timeout(connectTimeoutMs))
      await this.#update(entries, link)
    } catch (error) {
      const fields = { error: safeText(describeError(error)) }
      logger.warn(fields, 'Could not list the changed tools of an MCP server')
    }
  }

  /** Adds new tools, replaces changed ones and removes those that are gone; the rest is untouched. */
  async #update(entries: readonly unknown[], link: ServerLink): Promise<void> {
    const { server, logger, onChange } = this.#options
    const definitions = await this.#usable(entries, link.mirrorsArguments)
    if (link !== server.link) return
    const fresh = await this.#freshOf(definitions)
    const gone = this.#removeGone(definitions)
    await inSlices(batchesOf(fresh), batch => link === server.link && this.#add(batch))
    if (gone.length > 0) logger.info({ tools: gone.slice(0, MAX_LINES) }, goneText(gone.length))
    if (gone.length + fresh.length > 0) onChange()
  }

  /** By name; of two tools with the same name, the later one. */
  async #usable(
    entries: readonly unknown[],
    mirrorsArguments: boolean,
  ): Promise<Map<string, McpToolDefinition>> {
    const usable = new Map<string, McpToolDefinition>()
    const skipped: Line[] = []
    const duplicates: Line[] = []
    await inSlices(entries.slice(0, MAX_TOOLS), entry => {
      const definition = readDefinition(entry, { mirrorsArguments })
      if (typeof definition === 'string')
        return void skipped.push([{ reason: safeText(definition) }, 'MCP tool skipped'])
      if (!isOffered(definition.name, this.#options.server.entry)) return
      if (usable.has(definition.name))
        duplicates.push([{ tool: safeText(definition.name) }, 'MCP tool listed twice; using the later one'])
      usable.set(definition.name, definition)
    })
    this.#warn(skipped, 'MCP tools skipped')
    this.#warn(duplicates, 'MCP tools listed twice')
    if (entries.length > MAX_TOOLS) {
      const message = `The server lists more than ${MAX_TOOLS} tools; the rest is left out`
      this.#options.logger.warn({ max_tools: MAX_TOOLS }, message)
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

  async #freshOf(definitions: ReadonlyMap<string, McpToolDefinition>): Promise<McpToolDefinition[]> {
    const fresh: McpToolDefinition[] = []
    const changed: Line[] = []
    await inSlices(definitions.values(), definition => {
      const before = this.#known.get(definition.name)
      const changes = before ? describeChanges(before, definition) : []
      if (!before || changes.length > 0) fresh.push(definition)
      const message = `The definition of MCP tool '${safeText(definition.name)}' changed`
      if (changes.length > 0) changed.push([{ tool: safeText(definition.name), changes }, message])
    })
    this.#warn(changed, 'definitions of MCP tools changed')
    return fresh
  }

  #add(definitions: readonly McpToolDefinition[]): void {
    const { name: server, server: owner, tools } = this.#options
    const { parameterNames } = owner.entry
    for (const definition of definitions) this.#known.set(definition.name, definition)
    const added = definitions.map(definition => mcpTool(definition, owner))
    tools.addMcpTools(added, { server, order: this.order, ...(parameterNames && { parameterNames }) })
  }

  #warn(lines: readonly Line[], what: string): void {
    const { logger } = this.#options
    for (const line of lines.slice(0, MAX_LINES)) logger.warn(...line)
    const more = lines.length - MAX_LINES
    if (more > 0) logger.warn({ repeated: more }, `${more} more ${what}`)
  }

  #registered(): Tool[] {
    const { tools, name } = this.#options
    return tools.getTools().filter(tool => tools.originOf(tool)?.server === name)
  }
}

function* batchesOf<T>(items: readonly T[]): Generator<T[]> {
  for (let at = 0; at < items.length; at += BATCH) yield items.slice(at, at + BATCH)
}

function goneText(count: number): string {
  return count === 1 ? 'MCP tool removed' : `${count} MCP tools removed`
}
