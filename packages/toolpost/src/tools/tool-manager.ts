import type { Logger } from '../logging/logger.ts'
import { quietLogger } from '../logging/quiet-logger.ts'
import { Listeners } from '../runtime/listeners.ts'
import { describeThrown } from '../runtime/quietly.ts'
import { checkedTool } from './check-tool.ts'
import type { McpOrigin } from './name-conflicts.ts'
import type { Tool, ToolLike } from './tool.ts'
import { ToolIndex } from './tool-index.ts'
import { ToolPlaces } from './tool-places.ts'

/** `order` is the server's position in the configuration; its tools come after those of earlier servers. */
export type McpToolsOptions = Partial<Omit<McpOrigin, 'name'>>

const NO_ORDER = Number.MAX_SAFE_INTEGER

/** All tools in one array: the program's, then those of each MCP server in the configured order. */
export class ToolManager {
  readonly #tools: Tool[] = []
  readonly #index = new ToolIndex(this.#tools)
  readonly #origins = new WeakMap<Tool, McpOrigin>()
  readonly #places: ToolPlaces
  readonly #listeners: Listeners<{ change: undefined }>
  readonly #logger: Logger

  constructor({ logger }: { logger?: Logger | undefined } = {}) {
    this.#logger = quietLogger(logger)
    this.#places = new ToolPlaces({ index: this.#index, origins: this.#origins, logger: this.#logger })
    this.#listeners = new Listeners((_, error) =>
      this.#logger.warn({ error: describeThrown(error) }, 'A tool change listener failed'),
    )
  }

  /** Adds a tool of the program, replacing one of the same name. Throws on a tool it cannot use. */
  addCustomTool(like: ToolLike): void {
    this.#places.putLocal(checkedTool(like))
    this.#changed()
  }

  /** Adds a server's tools, made by our client or by `@langchain/mcp-adapters`. Skips unusable ones with a warning. */
  addMcpTools(
    tools: Iterable<ToolLike>,
    { server = 'mcp', order = NO_ORDER, parameterNames }: McpToolsOptions = {},
  ): void {
    const usable = [...tools].flatMap(like => this.#usable(like, server) ?? [])
    for (const tool of usable) this.#places.put(tool, { server, name: tool.name, order, parameterNames })
    if (usable.length > 0) this.#changed()
  }

  #usable(like: ToolLike, server: string): Tool | undefined {
    try {
      return checkedTool(like, { needsDescription: false })
    } catch (error) {
      this.#logger.warn({ server, reason: describeThrown(error) }, 'MCP tool skipped')
      return undefined
    }
  }

  /**
   * Changes the order of the servers. Tools are placed and named as if they had been added in it; one whose plain name had
   * been taken gets it back if it is now free.
   */
  arrange(servers: readonly string[]): void {
    if (this.#places.arrange(this.#tools, servers)) this.#changed()
  }

  /** The array itself, in the format that LangChain's models accept. */
  getTools(): Tool[] {
    return this.#tools
  }

  /** By `name` or `lc_name`; `undefined` if there is none. */
  findTool(name: string): Tool | undefined {
    return this.#index.find(name)
  }

  /** Removes a tool; returns whether there was one. */
  remove(name: string): boolean {
    return this.removeAll([name]) > 0
  }

  /** Removes several tools with one notification; returns how many there were. */
  removeAll(names: Iterable<string>): number {
    const gone = new Set([...names].flatMap(name => this.findTool(name) ?? []))
    this.#index.removeAll(gone)
    if (gone.size > 0) this.#changed()
    return gone.size
  }

  /** Calls `listener` after tools were added, replaced or removed; returns a function that unsubscribes it. */
  onChange(listener: () => void): () => void {
    return this.#listeners.on('change', listener)
  }

  #changed(): void {
    this.#listeners.tell('change', undefined)
  }

  /** Server and original name of an MCP tool; `undefined` for any other. */
  originOf(tool: Tool): McpOrigin | undefined {
    return this.#origins.get(tool)
  }
}
