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
  /** Tools that somebody knows by name. */
  readonly #known = new WeakSet<Tool>()
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
    this.#add(this.#shape(checkedTool(like)))
    this.#changed()
  }

  /** Adds a server's tools, made by our client or by `@langchain/mcp-adapters`. Skips unusable ones with a warning. */
  addMcpTools(
    tools: Iterable<ToolLike>,
    { server = 'mcp', order = NO_ORDER, parameterNames }: McpToolsOptions = {},
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
  #add(tool: Tool, origin?: McpOrigin, mayTake = true): void {
    const { name } = tool
    const fields = { tool: name, ...(origin && { server: origin.server }) }
    const isSame = (other: Tool) => {
      const known = this.#origins.get(other)
      return known?.server === origin?.server && (known?.name ?? other.name) === name
    }
    const isKnown = this.#has(name) || (origin && this.#has(qualified(origin)))
    const before = isKnown ? this.#tools.find(isSame) : undefined
    if (before) {
      this.#logger.warn(fields, `Tool '${before.name}' is already registered; replacing it`)
      return this.#place(withName(tool, before.name), origin, before)
    }
    const holder = isKnown ? this.#tools.find(other => other.name === name) : undefined
    if (!holder) return this.#place(tool, origin)
    const rival = this.#origins.get(holder)
    const isFinal = !mayTake || this.#known.has(holder)
    if (rival && (!origin || (!isFinal && origin.order < rival.order))) {
      const renamed = withName(holder, this.#freeName(rival))
      const taker = origin
        ? `server '${origin.server}', which comes first in the configuration`
        : 'a local tool'
      const about = { tool: name, server: rival.server, registered_as: renamed.name }
      this.#logger.warn(about, `The name is now taken by ${taker}`)
      this.#place(renamed, rival, holder)
      return this.#place(tool, origin)
    }
    const registered = origin ? this.#freeName(origin) : name
    const owner = rival ? `server '${rival.server}'` : 'a local tool'
    this.#logger.warn({ ...fields, registered_as: registered }, `The name is taken by ${owner}`)
    this.#place(withName(tool, registered), origin)
  }

  #has(name: string): boolean {
    // The array is public: others may have changed it.
    if (this.#names.size !== this.#tools.length) this.#names = new Set(this.#tools.map(tool => tool.name))
    return this.#names.has(name)
  }

  #freeName(origin: McpOrigin): string {
    const name = qualified(origin)
    let free = name
    for (let number = 2; this.#has(free); number++) free = `${name}_${number}`
    return free
  }

  /** In the place of `replaced`, or after the tools of the same and of earlier servers. */
  #place(tool: Tool, origin: McpOrigin | undefined, replaced?: Tool): void {
    if (origin) this.#origins.set(tool, origin)
    const isAfter = (other: Tool | undefined) =>
      other !== undefined && this.#orderOf(other) > this.#orderOf(tool)
    if (replaced) {
      if (this.#known.has(replaced)) this.#known.add(tool)
      this.#names.delete(replaced.name)
      this.#tools[this.#tools.indexOf(replaced)] = tool
    } else if (isAfter(this.#tools.at(-1))) this.#tools.splice(this.#tools.findIndex(isAfter), 0, tool)
    else this.#tools.push(tool)
    this.#names.add(tool.name)
  }

  #orderOf(tool: Tool): number {
    return this.#origins.get(tool)?.order ?? LOCAL
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

function qualified({ server, name }: McpOrigin): string {
  return `${server}__${name}`
}

/** The tool under a name; `invoke` stays bound to the original. */
function withName(tool: Tool, name: string): Tool {
  if (tool.name === name) return tool
  const { description, schema } = tool
  return { ...tool, name, description, schema, invoke: tool.invoke.bind(tool), lc_name: undefined }
}
