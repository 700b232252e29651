import { type Logger, silentLogger } from '../logging/logger.ts'
import { quietLogger } from '../logging/quiet-logger.ts'
import { Listeners } from '../runtime/listeners.ts'
import { describeThrown } from '../runtime/quietly.ts'
import { checkedTool } from './check-tool.ts'
import { type McpOrigin, NameConflicts } from './name-conflicts.ts'
import { withName } from './renamed-tool.ts'
import type { Tool, ToolLike } from './tool.ts'
import { ToolIndex } from './tool-index.ts'

/** `order` is the server's place in the configuration; its tools stand behind those of earlier servers. */
export type McpToolsOptions = Partial<Omit<McpOrigin, 'name'>>

const LOCAL = -1
const NO_ORDER = Number.MAX_SAFE_INTEGER

/** All tools there are, in one array: those of the program, then those of each MCP server in the configured order. */
export class ToolManager {
  readonly #tools: Tool[] = []
  readonly #index = new ToolIndex(this.#tools)
  /** Which tools are MCP tools, without changing them. */
  readonly #origins = new WeakMap<Tool, McpOrigin>()
  /** Of tools that go by another name than their own. */
  readonly #originals = new WeakMap<Tool, Tool>()
  readonly #conflicts: NameConflicts
  readonly #listeners: Listeners<{ change: undefined }>
  readonly #logger: Logger

  constructor({ logger = silentLogger }: { logger?: Logger | undefined } = {}) {
    this.#logger = quietLogger(logger)
    this.#listeners = new Listeners((_, error) =>
      this.#logger.warn({ error: describeThrown(error) }, 'A listener for changed tools failed'),
    )
    const rename = (tool: Tool, origin: McpOrigin, name: string) =>
      this.#index.replace(tool, this.#named(tool, origin, name))
    this.#conflicts = new NameConflicts({
      find: name => this.findTool(name),
      originOf: tool => this.originOf(tool),
      rename,
      logger: this.#logger,
    })
  }

  /** Adds a tool of the program. Replaces one of the same name; throws on a tool it cannot use. */
  addCustomTool(like: ToolLike): void {
    const tool = checkedTool(like)
    this.#place(tool, this.#conflicts.makeRoomFor(tool.name))
    this.#changed()
  }

  /** Adds the tools of a server, ours or those of `@langchain/mcp-adapters`. Warns of and skips what it cannot use. */
  addMcpTools(
    tools: Iterable<ToolLike>,
    { server = 'mcp', order = NO_ORDER, parameterNames }: McpToolsOptions = {},
  ): void {
    const usable = [...tools].flatMap(like => this.#usable(like, server) ?? [])
    for (const tool of usable) {
      const origin = { server, name: tool.name, order, parameterNames }
      const before = this.#conflicts.replacedBy(origin)
      this.#place(this.#named(tool, origin, before?.name ?? this.#conflicts.nameFor(origin)), before)
    }
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

  #named(tool: Tool, origin: McpOrigin, name: string): Tool {
    const original = this.#originals.get(tool) ?? tool
    const named = original.name === name ? original : withName(original, name)
    this.#origins.set(named, origin)
    if (named !== original) this.#originals.set(named, original)
    return named
  }

  /**
   * The servers stand in this order now. Tools are placed and named as if they had come in it: also one whose plain name
   * was taken gets it, if it is free.
   */
  arrange(servers: readonly string[]): void {
    const orders = new Map(servers.map((server, order) => [server, order]))
    const placed = this.#tools.flatMap(tool => {
      const origin = this.#origins.get(tool)
      return origin ? [{ tool, origin: { ...origin, order: orders.get(origin.server) ?? origin.order } }] : []
    })
    for (const { tool, origin } of placed) this.#origins.set(tool, origin)
    if (this.#isArranged(placed.map(({ tool }) => tool))) return
    this.#index.removeAll(new Set(placed.map(({ tool }) => tool)))
    for (const { tool, origin } of placed.sort((a, b) => a.origin.order - b.origin.order))
      this.#place(this.#named(tool, origin, this.#conflicts.nameFor(origin)))
    this.#changed()
  }

  #isArranged(tools: readonly Tool[]): boolean {
    const orderOf = (tool: Tool | undefined) => (tool && this.#origins.get(tool)?.order) ?? LOCAL
    return tools.every((tool, at) => {
      const plain = this.#origins.get(tool)?.name ?? tool.name
      const holder = this.findTool(plain)
      return orderOf(tools[at - 1]) <= orderOf(tool) && holder && orderOf(holder) <= orderOf(tool)
    })
  }

  /** Puts `tool` where `before` stood, or behind all others of its order. */
  #place(tool: Tool, before?: Tool): void {
    const orderOf = (one: Tool) => this.#origins.get(one)?.order ?? LOCAL
    if (before) this.#index.replace(before, tool)
    else this.#index.insert(tool, other => orderOf(other) <= orderOf(tool))
  }

  /** The array itself, in the format that LangChain's models take. */
  getTools(): Tool[] {
    return this.#tools
  }

  /** By `name` or `lc_name`; `undefined` if there is none. */
  findTool(name: string): Tool | undefined {
    return this.#index.find(name)
  }

  /** Takes a tool away; says whether there was one. */
  remove(name: string): boolean {
    const tool = this.findTool(name)
    if (!tool) return false
    this.#index.remove(tool)
    this.#changed()
    return true
  }

  /** Takes many tools away at once, and tells of it once. */
  removeAll(names: Iterable<string>): void {
    const gone = new Set([...names].flatMap(name => this.findTool(name) ?? []))
    if (gone.size === 0) return
    this.#index.removeAll(gone)
    this.#changed()
  }

  /** Calls `listener` after tools were added, replaced or removed; returns a function that stops it. */
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
