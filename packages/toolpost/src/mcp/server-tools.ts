import { isDeepStrictEqual } from 'node:util'
import { safeText } from '../logging/safe-value.ts'
import type { Tool } from '../tools/tool.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import type { Clock } from '../util/clock.ts'
import { fitsGlob } from '../util/text.ts'
import type { Connection, Listed } from './connection.ts'
import { LIST_MAX_PAUSE_MS, LIST_PAUSE_MS, MAX_LISTED } from './limits.ts'
import type { McpServer } from './mcp-server.ts'
import { mcpTool } from './mcp-tool.ts'
import { describeError } from './server-failure.ts'
import { type McpToolDefinition, readDefinition } from './tool-definition.ts'

interface ServerToolsOptions {
  tools: ToolManager
  clock: Clock
  /** How long the server may take to list its tools again. */
  connectTimeoutMs: number
}

const MAX_LINES = 20

/** Keeps the tools of one server in the ToolManager in sync with what the server lists. */
export class ServerTools {
  readonly #server: McpServer
  readonly #options: ServerToolsOptions
  #known = new Map<string, McpToolDefinition>()
  #isRefreshing = false
  #isStale = false

  constructor(server: McpServer, options: ServerToolsOptions) {
    this.#server = server
    this.#options = options
  }

  clear(): void {
    this.#options.tools.removeAll(this.names())
  }

  /** The next list replaces them all. */
  forget(): void {
    this.#known.clear()
  }

  names(): string[] {
    return this.#registered().map(tool => tool.name)
  }

  #registered(): Tool[] {
    const { tools } = this.#options
    return tools.getTools().filter(tool => tools.originOf(tool)?.server === this.#server.name)
  }

  /** Adopts the tools of a new connection, including changes while it was being established. */
  adopt(connection: Connection): void {
    this.#update(connection.tools, connection)
    if (this.#isStale) this.refresh()
  }

  /** Lists the server's tools again, or once more if that is in progress; less and less often while they keep changing. */
  async refresh(): Promise<void> {
    this.#isStale = true
    if (this.#isRefreshing) return
    this.#isRefreshing = true
    const { clock, connectTimeoutMs } = this.#options
    for (let pauseMs = LIST_PAUSE_MS; this.#isStale && this.#server.connection; pauseMs *= 2) {
      this.#isStale = false
      const { connection } = this.#server
      await connection.list('tools', AbortSignal.timeout(connectTimeoutMs)).then(
        listed => this.#update(listed, connection),
        error => this.#server.problem(`Could not list the server's changed tools: ${describeError(error)}`),
      )
      await new Promise<void>(resolve =>
        clock.setTimer(resolve, Math.min(pauseMs, LIST_MAX_PAUSE_MS)).hold(false),
      )
    }
    this.#isRefreshing = false
  }

  /** Adds new tools, replaces changed ones and removes those that are gone; the rest is untouched. */
  #update(listed: Listed, connection: Connection): void {
    const { tools } = this.#options
    const { name: server, order, entry, logger } = this.#server
    if (connection !== this.#server.connection) return
    const known = this.#known
    const definitions = this.#usable(listed, connection.mirrorsArguments)
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
        { server, order, ...(entry.parameterNames && { parameterNames: entry.parameterNames }) },
      )
    if (gone.length + changed.length > 0) this.#server.changed('tools')
  }

  /** By name; of two tools with the same name, the later one. */
  #usable({ entries, isCut }: Listed, mirrorsArguments: boolean): Map<string, McpToolDefinition> {
    const { logger, entry: settings } = this.#server
    const { include, exclude = [] } = settings
    const fits = (name: string, globs: readonly string[]) => globs.some(glob => fitsGlob(name, glob))
    const usable = new Map<string, McpToolDefinition>()
    const warnings: [fields: object, message: string][] = []
    for (const entry of entries) {
      const definition = readDefinition(entry, { mirrorsArguments })
      if (typeof definition === 'string') {
        warnings.push([{ reason: safeText(definition) }, 'MCP tool skipped'])
        continue
      }
      const { name, raw } = definition
      if ((include && !fits(name, include)) || fits(name, exclude)) continue
      const fields = { tool: safeText(name) }
      if (raw) warnings.push([fields, 'Invisible text was removed from the definition of an MCP tool'])
      if (usable.has(name)) warnings.push([fields, 'MCP tool listed twice; using the later one'])
      usable.set(name, definition)
    }
    if (isCut) warnings.unshift([{}, `The server lists more than ${MAX_LISTED} tools; the rest is left out`])
    for (const warning of warnings.slice(0, MAX_LINES)) logger.warn(...warning)
    return usable
  }
}
