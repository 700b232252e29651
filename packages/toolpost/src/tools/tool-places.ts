import type { Logger } from '../logging/logger.ts'
import { type McpOrigin, NameConflicts } from './name-conflicts.ts'
import { withName } from './renamed-tool.ts'
import type { Tool } from './tool.ts'
import type { ToolIndex } from './tool-index.ts'

const LOCAL = -1

interface Parts {
  index: ToolIndex
  /** Marks MCP tools without changing them. */
  origins: WeakMap<Tool, McpOrigin>
  logger: Logger
}

/** Puts each tool into the array in its place and under its name: the program's, then those of each server in order. */
export class ToolPlaces {
  readonly #index: ToolIndex
  readonly #origins: WeakMap<Tool, McpOrigin>
  /** The originals of renamed tools. */
  readonly #originals = new WeakMap<Tool, Tool>()
  readonly #conflicts: NameConflicts

  constructor({ index, origins, logger }: Parts) {
    this.#index = index
    this.#origins = origins
    this.#conflicts = new NameConflicts({
      find: name => index.find(name),
      originOf: tool => origins.get(tool),
      rename: (tool, origin, name) => index.replace(tool, this.#named(tool, origin, name)),
      logger,
    })
  }

  /** A tool of the program: replaces a local tool of the same name; a server's tool is renamed. */
  putLocal(tool: Tool): void {
    this.#place(tool, this.#conflicts.makeRoomFor(tool.name))
  }

  /** A tool of a server: replaces the one that the server had under this name. */
  put(tool: Tool, origin: McpOrigin): void {
    const before = this.#conflicts.replacedBy(origin)
    this.#place(this.#named(tool, origin, before?.name ?? this.#conflicts.nameFor(origin)), before)
  }

  /** Places and names the servers' tools as if added in this order; returns whether that changed anything. */
  arrange(tools: readonly Tool[], servers: readonly string[]): boolean {
    const orders = new Map(servers.map((server, order) => [server, order]))
    const placed = tools.flatMap(tool => {
      const origin = this.#origins.get(tool)
      return origin ? [{ tool, origin: { ...origin, order: orders.get(origin.server) ?? origin.order } }] : []
    })
    for (const { tool, origin } of placed) this.#origins.set(tool, origin)
    if (this.#isArranged(placed.map(({ tool }) => tool))) return false
    this.#index.removeAll(new Set(placed.map(({ tool }) => tool)))
    for (const { tool, origin } of placed.sort((a, b) => a.origin.order - b.origin.order))
      this.#place(this.#named(tool, origin, this.#conflicts.nameFor(origin)))
    return true
  }

  #isArranged(tools: readonly Tool[]): boolean {
    return tools.every((tool, at) => {
      const before = tools[at - 1]
      const holder = this.#index.find(this.#origins.get(tool)?.name ?? tool.name)
      const order = this.#orderOf(tool)
      return (!before || this.#orderOf(before) <= order) && holder && this.#orderOf(holder) <= order
    })
  }

  #named(tool: Tool, origin: McpOrigin, name: string): Tool {
    const original = this.#originals.get(tool) ?? tool
    const named = original.name === name ? original : withName(original, name)
    this.#origins.set(named, origin)
    if (named !== original) this.#originals.set(named, original)
    return named
  }

  /** Puts `tool` in the place of `before`, or after all others of its order. */
  #place(tool: Tool, before?: Tool): void {
    if (before) this.#index.replace(before, tool)
    else this.#index.insert(tool, other => this.#orderOf(other) <= this.#orderOf(tool))
  }

  #orderOf(tool: Tool): number {
    return this.#origins.get(tool)?.order ?? LOCAL
  }
}
