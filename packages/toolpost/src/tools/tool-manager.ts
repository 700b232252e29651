import { type Logger, silentLogger } from '../logging/logger.ts'
import { quietLogger } from '../logging/quiet-logger.ts'
import { describeThrown, quietly } from '../runtime/quietly.ts'
import type { ParameterNames } from './argument-names.ts'
import { checkedTool } from './check-tool.ts'
import { type McpOrigin, NameConflicts } from './name-conflicts.ts'
import { withName } from './renamed-tool.ts'
import type { Tool, ToolLike } from './tool.ts'
import { ToolIndex } from './tool-index.ts'

export interface McpToolsOptions {
  server?: string
  /** The server's place in the configuration; its tools stand behind those of earlier servers. */
  order?: number
  /** Argument names that this server's tools know by another name. */
  parameterNames?: ParameterNames
}

const LOCAL = -1
const NO_ORDER = Number.MAX_SAFE_INTEGER

/** All tools there are, in one array: those of the program, then those of each MCP server in the configured order. */
export class ToolManager {
  readonly #tools: Tool[] = []
  readonly #index = new ToolIndex(this.#tools, tool => this.#origins.get(tool)?.order ?? LOCAL)
  /** Which tools are MCP tools, without changing them. */
  readonly #origins = new WeakMap<Tool, McpOrigin>()
  readonly #conflicts: NameConflicts
  readonly #listeners = new Set<() => void>()
  readonly #logger: Logger

  constructor({ logger = silentLogger }: { logger?: Logger | undefined } = {}) {
    this.#logger = quietLogger(logger)
    this.#conflicts = new NameConflicts(
      {
        holderOf: name => this.#holderOf(name),
        originOf: tool => this.originOf(tool),
        rename: (tool, origin, name) => this.#place(this.#named(tool, origin, name), tool),
      },
      this.#logger,
    )
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
    let hasAdded = false
    for (const like of tools) {
      const tool = this.#usable(like, server)
      if (!tool) continue
      this.#addMcpTool(tool, { server, name: tool.name, order, parameterNames })
      hasAdded = true
    }
    if (hasAdded) this.#changed()
  }

  #usable(like: ToolLike, server: string): Tool | undefined {
    try {
      return checkedTool(like, { needsDescription: false })
    } catch (error) {
      this.#logger.warn({ server, reason: describeThrown(error) }, 'MCP tool skipped')
      return undefined
    }
  }

  #addMcpTool(tool: Tool, origin: McpOrigin): void {
    const before = this.#conflicts.replacedBy(origin)
    const name = before?.name ?? this.#conflicts.nameFor(origin)
    this.#place(this.#named(tool, origin, name), before)
  }

  #named(tool: Tool, origin: McpOrigin, name: string): Tool {
    const named = tool.name === name ? tool : withName(tool, name)
    this.#origins.set(named, origin)
    return named
  }

  /** Puts `tool` where `before` stood, or at the end. */
  #place(tool: Tool, before?: Tool): void {
    if (before) this.#index.replace(before, tool)
    else this.#index.append(tool)
  }

  /** The array itself, in the format that LangChain's models take. */
  getTools(): Tool[] {
    return this.#tools
  }

  /** By `name` or `lc_name`; `undefined` if there is none. */
  findTool(name: string): Tool | undefined {
    return this.#index.find(name)
  }

  #holderOf(name: string): Tool | undefined {
    const tool = this.#index.find(name)
    return tool?.name === name ? tool : undefined
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
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  #changed(): void {
    this.#index.settle()
    const warn = (error: unknown) =>
      this.#logger.warn({ error: describeThrown(error) }, 'A listener for changed tools failed')
    for (const listener of this.#listeners) quietly(listener, warn)
  }

  /** Server and original name of an MCP tool; `undefined` for any other. */
  originOf(tool: Tool): McpOrigin | undefined {
    return this.#origins.get(tool)
  }
}
