import type { Logger } from '../logging/logger.ts'
import { quietLogger } from '../logging/quiet-logger.ts'
import { Listeners } from '../runtime/listeners.ts'
import { describeThrown } from '../runtime/quietly.ts'
import { checkedTool } from './check-tool.ts'
import { withName } from './renamed-tool.ts'
import type { Tool, ToolLike } from './tool.ts'

/** For each tool: given name → name that the server expects. */
export type ParameterNames = Readonly<Record<string, Readonly<Record<string, string>>>>

/** Where an MCP tool came from. */
export interface McpOrigin {
  server: string
  /** The server's own name for the tool, which may be registered under another. */
  name: string
  /** The server's position in the configuration. */
  order: number
  /** Argument names to replace with those of the server's tools. */
  parameterNames?: ParameterNames | undefined
}

/** `order` is the server's position in the configuration; its tools come after those of earlier servers. */
export type McpToolsOptions = Partial<Omit<McpOrigin, 'name'>>

export interface ToolManagerOptions {
  tools?: readonly ToolLike[] | undefined
  logger?: Logger | undefined
}

const NO_ORDER = Number.MAX_SAFE_INTEGER
/** The program's tools come first. */
const LOCAL = -1

/** All tools in one array: the program's, then those of each MCP server in the configured order. */
export class ToolManager {
  readonly #tools: Tool[] = []
  readonly #origins = new WeakMap<Tool, McpOrigin>()
  /** Servers whose tools were added before. */
  readonly #servers = new Set<string>()
  readonly #listeners: Listeners<{ change: undefined }>
  readonly #logger: Logger

  constructor({ tools = [], logger }: ToolManagerOptions = {}) {
    this.#logger = quietLogger(logger)
    this.#listeners = new Listeners((_, error) =>
      this.#logger.warn({ error: describeThrown(error) }, 'A tool change listener failed'),
    )
    for (const tool of tools) this.addCustomTool(tool)
  }

  /** Adds a tool of the program, replacing one of the same name. Throws on a tool it cannot use. */
  addCustomTool(like: ToolLike): void {
    const tool = checkedTool(like)
    const holder = this.#tools.find(({ name }) => name === tool.name)
    const origin = holder && this.#origins.get(holder)
    if (holder && origin) {
      this.#rename(holder, origin, 'a local tool', name => this.#tools.some(one => one.name === name))
      this.#insert(tool, LOCAL)
    } else if (holder) {
      this.#logger.warn({ tool: tool.name }, `Tool '${tool.name}' is already registered; replacing it`)
      this.#tools[this.#tools.indexOf(holder)] = tool
    } else this.#insert(tool, LOCAL)
    this.#changed()
  }

  /** Adds a server's tools, made by our client or by `@langchain/mcp-adapters`. Skips unusable ones with a warning. */
  addMcpTools(
    tools: Iterable<ToolLike>,
    { server = 'mcp', order = NO_ORDER, parameterNames }: McpToolsOptions = {},
  ): void {
    const usable = [...tools].flatMap(like => this.#usable(like, server) ?? [])
    const names = new Map(this.#tools.map(tool => [tool.name, tool]))
    const isFirst = !this.#servers.has(server)
    for (const tool of usable)
      this.#put(tool, { server, name: tool.name, order, parameterNames }, { names, isFirst })
    this.#servers.add(server)
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
   * A tool that the server had before is replaced and keeps its name. A new one gets its own name if that is free. When a
   * server's tools are added for the first time, it takes the name from a server that comes later in the configuration;
   * after that, a name stays with its tool. Otherwise it becomes `<server>__<tool>`.
   */
  #put(
    tool: Tool,
    origin: McpOrigin,
    { names, isFirst }: { names: Map<string, Tool>; isFirst: boolean },
  ): void {
    const { server, name, order } = origin
    const isTaken = (candidate: string) => names.has(candidate)
    const before = namesFor(origin, isTaken).find(each => this.#isSame(names.get(each), origin))
    const holder = names.get(name)
    const rival = holder && this.#origins.get(holder)
    let registered = before ?? name
    if (before !== undefined) {
      this.#logger.warn({ tool: before, server }, `Tool '${before}' is already registered; replacing it`)
    } else if (holder && rival && isFirst && order < rival.order) {
      const moved = this.#rename(
        holder,
        rival,
        `server '${server}', which comes first in the configuration`,
        isTaken,
      )
      names.set(moved.name, moved)
    } else if (holder) {
      registered = freeName(origin, isTaken)
      const owner = rival ? `server '${rival.server}'` : 'a local tool'
      this.#logger.warn({ tool: name, server, registered_as: registered }, `The name is taken by ${owner}`)
    }
    const added = registered === name ? tool : withName(tool, registered)
    this.#origins.set(added, origin)
    const replaced = before === undefined ? undefined : names.get(before)
    if (replaced) this.#tools[this.#tools.indexOf(replaced)] = added
    else this.#insert(added, order)
    names.set(registered, added)
  }

  #isSame(tool: Tool | undefined, { server, name }: McpOrigin): boolean {
    const origin = tool && this.#origins.get(tool)
    return origin?.server === server && origin.name === name
  }

  /** Gives a server's tool another name, because its own is now taken. */
  #rename(tool: Tool, origin: McpOrigin, taker: string, isTaken: (name: string) => boolean): Tool {
    const name = freeName(origin, isTaken)
    const renamed = withName(tool, name)
    this.#origins.set(renamed, origin)
    this.#tools[this.#tools.indexOf(tool)] = renamed
    this.#logger.warn(
      { tool: tool.name, server: origin.server, registered_as: name },
      `The name is now taken by ${taker}`,
    )
    return renamed
  }

  /** After the tools of the same and of earlier servers. */
  #insert(tool: Tool, order: number): void {
    const last = this.#tools.at(-1)
    if (!last || this.#orderOf(last) <= order) return void this.#tools.push(tool)
    const at = this.#tools.findIndex(other => this.#orderOf(other) > order)
    this.#tools.splice(at, 0, tool)
  }

  #orderOf(tool: Tool): number {
    return this.#origins.get(tool)?.order ?? LOCAL
  }

  /** Changes the order of the servers. Names stay. */
  arrange(servers: readonly string[]): void {
    const before = [...this.#tools]
    for (const tool of before) {
      const origin = this.#origins.get(tool)
      const order = origin ? servers.indexOf(origin.server) : -1
      if (origin && order >= 0) origin.order = order
    }
    this.#tools.sort((a, b) => this.#orderOf(a) - this.#orderOf(b))
    if (this.#tools.some((tool, index) => tool !== before[index])) this.#changed()
  }

  /** The array itself, in the format that LangChain's models accept. */
  getTools(): Tool[] {
    return this.#tools
  }

  /** By `name` or `lc_name`; `undefined` if there is none. */
  findTool(name: string): Tool | undefined {
    return this.#tools.find(tool => tool.name === name) ?? this.#tools.find(tool => tool.lc_name === name)
  }

  /** Removes a tool; returns whether there was one. */
  remove(name: string): boolean {
    return this.removeAll([name]) > 0
  }

  /** Removes several tools with one notification; returns how many there were. */
  removeAll(names: Iterable<string>): number {
    const gone = new Set([...names].flatMap(name => this.findTool(name) ?? []))
    const left = this.#tools.filter(tool => !gone.has(tool))
    this.#tools.splice(0, Number.POSITIVE_INFINITY, ...left)
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

/** The names a server's tool may be registered under: `tool`, `server__tool`, then those taken before a free one. */
function namesFor(origin: McpOrigin, isTaken: (name: string) => boolean): string[] {
  const { server, name } = origin
  const names = [name, `${server}__${name}`]
  for (let number = 2; isTaken(`${server}__${name}_${number}`); number++)
    names.push(`${server}__${name}_${number}`)
  return names
}

/** The first free name for a tool other than its own. */
function freeName(origin: McpOrigin, isTaken: (name: string) => boolean): string {
  const { server, name } = origin
  const qualified = `${server}__${name}`
  if (!isTaken(qualified)) return qualified
  for (let number = 2; ; number++) if (!isTaken(`${qualified}_${number}`)) return `${qualified}_${number}`
}
