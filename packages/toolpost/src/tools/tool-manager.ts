import type { Logger } from '../logging/logger.ts'
import { quietLogger } from '../logging/quiet-logger.ts'
import { describeThrown, Listeners } from '../util/quietly.ts'
import { checkedTool } from './check-tool.ts'
import type { Tool, ToolLike } from './tool.ts'

/** For each tool: given name → name that the server expects. */
export type ParameterNames = Readonly<Record<string, Readonly<Record<string, string>>>>

/** Where an MCP tool came from. */
export interface McpOrigin {
  server: string
  /** The server's own name for the tool, which may be registered under another. */
  name: string
  /** The server's position in the configuration; its tools come after those of earlier servers. */
  order: number
  parameterNames?: ParameterNames | undefined
}

export type McpToolsOptions = Partial<Omit<McpOrigin, 'name'>>

export interface ToolManagerOptions {
  tools?: readonly ToolLike[] | undefined
  logger?: Logger | undefined
  /** Changes how a tool is shown and called, when it is added. */
  shape?: ((tool: Tool, server?: string) => Tool) | undefined
}

/** All tools in one array: the program's, then those of each MCP server in the configured order. */
export class ToolManager {
  readonly #tools: Tool[] = []
  readonly #origins = new WeakMap<Tool, McpOrigin>()
  /** Servers whose tools were added before. */
  readonly #servers = new Set<string>()
  /** Tools that somebody knows by name. */
  readonly #known = new WeakSet<Tool>()
  readonly #logger: Logger
  readonly #listeners = new Listeners<{ change: undefined }>((_, error) =>
    this.#logger.warn({ error: describeThrown(error) }, 'A tool change listener failed'),
  )
  readonly #shape: NonNullable<ToolManagerOptions['shape']>
  /** Spares most tools that are added a search for their name. */
  #names = new Set<string>()

  constructor({ tools = [], logger, shape = tool => tool }: ToolManagerOptions = {}) {
    this.#shape = shape
    this.#logger = quietLogger(logger)
    for (const tool of tools) this.addCustomTool(tool)
  }

  /** Adds a tool of the program, replacing one of the same name. Throws on a tool it cannot use. */
  addCustomTool(like: ToolLike): void {
    this.#add(this.#shape(checkedTool(like)))
    this.#changed()
  }

  /** Adds a server's tools, made by our client or by `@langchain/mcp-adapters`. Skips unusable ones with a warning. */
  addMcpTools(
    tools: Iterable<ToolLike>,
    { server = 'mcp', order = Number.MAX_SAFE_INTEGER, parameterNames }: McpToolsOptions = {},
  ): void {
    const isFirst = !this.#servers.has(server)
    this.#servers.add(server)
    for (const like of [...tools]) {
      try {
        const tool = this.#shape(checkedTool(like, { needsDescription: false }), server)
        this.#add(tool, { server, name: tool.name, order, parameterNames }, isFirst)
      } catch (error) {
        this.#logger.warn({ server, reason: describeThrown(error) }, 'MCP tool skipped')
      }
    }
    this.#changed()
  }

  /**
   * Adds a tool, and settles whose name it is. It replaces the one that its owner had under that name. Otherwise a name
   * stays with its tool until that is gone, with two exceptions: the program's tools take it from those of servers, and a
   * server whose tools are added for the first time takes it from servers that come later in the configuration, whichever
   * connected first, unless `keepNames` has made it final. A server's tool without its own name becomes `<server>__<tool>`.
   */
  #add(tool: Tool, origin?: McpOrigin, isFirst = true): void {
    const { name } = tool
    if (!this.#has(name) && !(origin && this.#has(qualified(origin)))) return this.#place(tool, origin)
    const before = this.#tools.find(other => {
      const known = this.#origins.get(other)
      return known?.server === origin?.server && (known?.name ?? other.name) === name
    })
    if (before) {
      const fields = { tool: name, ...(origin && { server: origin.server }) }
      this.#logger.warn(fields, `Tool '${before.name}' is already registered; replacing it`)
      return this.#place(withName(tool, before.name), origin, before)
    }
    const holder = this.#tools.find(other => other.name === name)
    if (!holder) return this.#place(tool, origin)
    const rival = this.#origins.get(holder)
    const mayTake = isFirst && !this.#known.has(holder)
    const isTaken = rival && (!origin || (mayTake && origin.order < rival.order))
    const [winner, loser] = isTaken ? [origin, rival] : [rival, origin as McpOrigin]
    const registered_as = this.#freeName(loser)
    const owner = winner ? `server '${winner.server}'` : 'a local tool'
    this.#logger.warn({ tool: name, server: loser.server, registered_as }, `The name is taken by ${owner}`)
    if (isTaken) this.#place(withName(holder, registered_as), rival, holder)
    this.#place(isTaken ? tool : withName(tool, registered_as), origin)
  }

  #has(name: string): boolean {
    // The array is public: others may have changed it.
    if (this.#names.size !== this.#tools.length) this.#names = new Set(this.#tools.map(tool => tool.name))
    return this.#names.has(name)
  }

  #freeName(origin: McpOrigin): string {
    let free = qualified(origin)
    for (let number = 2; this.#has(free); number++) free = `${qualified(origin)}_${number}`
    return free
  }

  /** In the place of `before`, or after the tools of the same and of earlier servers. */
  #place(tool: Tool, origin: McpOrigin | undefined, before?: Tool): void {
    if (origin) this.#origins.set(tool, origin)
    if (before && this.#known.has(before)) this.#known.add(tool)
    if (before) this.#names.delete(before.name)
    this.#names.add(tool.name)
    const isLater = (other: Tool | undefined) => this.#orderOf(other) > this.#orderOf(tool)
    if (before) this.#tools[this.#tools.indexOf(before)] = tool
    else if (!isLater(this.#tools.at(-1))) this.#tools.push(tool)
    else this.#tools.splice(this.#tools.findIndex(isLater), 0, tool)
  }

  /** The program's tools come first. */
  #orderOf(tool: Tool | undefined): number {
    return (tool && this.#origins.get(tool)?.order) ?? -1
  }

  /** Changes the order of the servers. Names stay. */
  arrange(servers: readonly string[]): void {
    const before = [...this.#tools]
    for (const origin of before.flatMap(tool => this.#origins.get(tool) ?? []))
      if (servers.includes(origin.server)) origin.order = servers.indexOf(origin.server)
    this.#tools.sort((a, b) => this.#orderOf(a) - this.#orderOf(b))
    if (this.#tools.some((tool, index) => tool !== before[index])) this.#changed()
  }

  /** The array itself. */
  getTools(): Tool[] {
    return this.#tools
  }

  /** Makes the names of these tools final, since somebody has seen or called them; returns the tools. */
  keepNames(tools: readonly Tool[] = this.#tools): readonly Tool[] {
    for (const tool of tools) this.#known.add(tool)
    return tools
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

const qualified = ({ server, name }: McpOrigin) => `${server}__${name}`

/** The tool under a name; `invoke` stays bound to the original. */
function withName(tool: Tool, name: string): Tool {
  if (tool.name === name) return tool
  const { description, schema } = tool
  return { ...tool, name, description, schema, invoke: tool.invoke.bind(tool), lc_name: undefined }
}
