import type { Logger } from '../logging/logger.ts'
import { quietLogger } from '../logging/quiet-logger.ts'
import { Listeners } from '../util/listeners.ts'
import { describeThrown } from '../util/quietly.ts'
import { checkedTool } from './check-tool.ts'
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
  /** Changes how a tool is shown and called, when it is added. */
  shape?: ((tool: Tool, server?: string) => Tool) | undefined
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
  /** Spares most tools that are added a search for their name. */
  #names = new Set<string>()
  readonly #shape: NonNullable<ToolManagerOptions['shape']>

  constructor({ tools = [], logger, shape = tool => tool }: ToolManagerOptions = {}) {
    this.#shape = shape
    this.#logger = quietLogger(logger)
    this.#listeners = new Listeners((_, error) =>
      this.#logger.warn({ error: describeThrown(error) }, 'A tool change listener failed'),
    )
    for (const tool of tools) this.addCustomTool(tool)
  }

  /** Adds a tool of the program, replacing one of the same name. Throws on a tool it cannot use. */
  addCustomTool(like: ToolLike): void {
    const tool = this.#shape(checkedTool(like))
    const holder = this.#holderOf(tool.name)
    const isForeign = holder !== undefined && this.#origins.has(holder)
    if (isForeign) this.#rename(holder, 'a local tool')
    else if (holder) this.#warnReplaced(tool.name)
    this.#place(tool, LOCAL, isForeign ? undefined : holder)
    this.#changed()
  }

  /** Adds a server's tools, made by our client or by `@langchain/mcp-adapters`. Skips unusable ones with a warning. */
  addMcpTools(
    tools: Iterable<ToolLike>,
    { server = 'mcp', order = NO_ORDER, parameterNames }: McpToolsOptions = {},
  ): void {
    const usable = [...tools].flatMap(like => this.#usable(like, server) ?? [])
    const mayTake = !this.#servers.has(server)
    this.#servers.add(server)
    for (const tool of usable) {
      const origin = { server, name: tool.name, order, parameterNames }
      const before = this.#registered(origin)
      if (before) this.#warnReplaced(before.name, server)
      const name = before ? before.name : this.#nameFor(origin, mayTake)
      const added = name === tool.name ? tool : withName(tool, name)
      this.#origins.set(added, origin)
      this.#place(added, order, before)
    }
    if (usable.length > 0) this.#changed()
  }

  #holderOf(name: string): Tool | undefined {
    // The array is public: others may have added to it.
    if (this.#names.size !== this.#tools.length) this.#names = new Set(this.#tools.map(tool => tool.name))
    return this.#names.has(name) ? this.#tools.find(tool => tool.name === name) : undefined
  }

  /** The tool that a server has already registered under its own name for it. */
  #registered({ server, name }: McpOrigin): Tool | undefined {
    if (!this.#holderOf(name) && !this.#holderOf(qualified(server, name))) return undefined
    return this.#tools.find(tool => {
      const origin = this.#origins.get(tool)
      return origin?.server === server && origin.name === name
    })
  }

  /**
   * The name for a new tool of a server: its own if that is free, otherwise `<server>__<tool>`. A name stays with its tool
   * until that tool is gone, except that a server whose tools are added for the first time takes names from servers that
   * come later in the configuration, whichever connected first.
   */
  #nameFor(origin: McpOrigin, mayTake: boolean): string {
    const { server, name } = origin
    const holder = this.#holderOf(name)
    if (!holder) return name
    const rival = this.#origins.get(holder)
    if (mayTake && rival && origin.order < rival.order) {
      this.#rename(holder, `server '${server}', which comes first in the configuration`)
      return name
    }
    const registered = this.#freeName(origin)
    const owner = rival ? `server '${rival.server}'` : 'a local tool'
    this.#logger.warn({ tool: name, server, registered_as: registered }, `The name is taken by ${owner}`)
    return registered
  }

  /** Gives a server's tool another name, because its own is now taken. */
  #rename(tool: Tool, taker: string): void {
    const origin = this.#origins.get(tool) as McpOrigin
    const renamed = withName(tool, this.#freeName(origin))
    this.#origins.set(renamed, origin)
    this.#place(renamed, origin.order, tool)
    const fields = { tool: tool.name, server: origin.server, registered_as: renamed.name }
    this.#logger.warn(fields, `The name is now taken by ${taker}`)
  }

  /** The first free name for a server's tool other than its own. */
  #freeName({ server, name }: McpOrigin): string {
    let free = qualified(server, name)
    for (let number = 2; this.#holderOf(free); number++) free = `${qualified(server, name)}_${number}`
    return free
  }

  /** In the place of `replaced`, or after the tools of the same and of earlier servers. */
  #place(tool: Tool, order: number, replaced?: Tool): void {
    const last = this.#tools.at(-1)
    const isLast = !last || this.#orderOf(last) <= order
    if (replaced) this.#tools[this.#tools.indexOf(replaced)] = tool
    else if (isLast) this.#tools.push(tool)
    else
      this.#tools.splice(
        this.#tools.findIndex(other => this.#orderOf(other) > order),
        0,
        tool,
      )
    if (replaced) this.#names.delete(replaced.name)
    this.#names.add(tool.name)
  }

  #orderOf(tool: Tool): number {
    return this.#origins.get(tool)?.order ?? LOCAL
  }

  #usable(like: ToolLike, server: string): Tool | undefined {
    try {
      return this.#shape(checkedTool(like, { needsDescription: false }), server)
    } catch (error) {
      this.#logger.warn({ server, reason: describeThrown(error) }, 'MCP tool skipped')
      return undefined
    }
  }

  #warnReplaced(tool: string, server?: string): void {
    const fields = { tool, ...(server && { server }) }
    this.#logger.warn(fields, `Tool '${tool}' is already registered; replacing it`)
  }

  /** Changes the order of the servers. Names stay. */
  arrange(servers: readonly string[]): void {
    const before = [...this.#tools]
    for (const origin of before.flatMap(tool => this.#origins.get(tool) ?? []))
      if (servers.includes(origin.server)) origin.order = servers.indexOf(origin.server)
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

function qualified(server: string, name: string): string {
  return `${server}__${name}`
}

/** The same tool under another name; `invoke` stays bound to the original. */
function withName(tool: Tool, name: string): Tool {
  const { description, schema } = tool
  return { ...tool, name, description, schema, invoke: tool.invoke.bind(tool), lc_name: undefined }
}
