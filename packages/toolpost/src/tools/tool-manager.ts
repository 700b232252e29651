import { ZWAVE_PARAMETER_NAMES } from '../known-servers/zwave.ts'
import { type Logger, silentLogger } from '../logging/logger.ts'
import { quietLogger } from '../logging/quiet-logger.ts'
import { safeValue } from '../logging/safe-value.ts'
import { jsonSchemaOf } from '../schema/json-schema.ts'
import { describeRenaming, fitArgumentNames, type ParameterNames } from './argument-names.ts'
import { checkedTool } from './check-tool.ts'
import { withName } from './renamed-tool.ts'
import type { Tool, ToolLike } from './tool.ts'

/** Where an MCP tool came from. */
export interface McpOrigin {
  server: string
  /** The server's own name for the tool; it may be registered under another one. */
  name: string
  /** The server's place in the configuration: of two servers, the earlier keeps the plain name. */
  order: number
}

export interface McpToolsOptions {
  server?: string
  order?: number
  /** Argument names that this server's tools know by another name. */
  parameterNames?: ParameterNames
}

const NO_ORDER = Number.MAX_SAFE_INTEGER

/** All tools there are, in one array: those of MCP servers and those of the program side by side. */
export class ToolManager {
  readonly #tools: Tool[] = []
  /** Where each name stands in the array: a short cut, made anew when the array has changed under it. */
  readonly #positions = new Map<string, number>()
  #notedLength = 0
  /** Which tools are MCP tools, without changing them. */
  readonly #origins = new WeakMap<Tool, McpOrigin>()
  readonly #parameterNames = new Map<string, ParameterNames>()
  readonly #listeners = new Set<() => void>()
  readonly #logger: Logger

  constructor({ logger = silentLogger }: { logger?: Logger | undefined } = {}) {
    this.#logger = quietLogger(logger)
  }

  /** Adds a tool of the program. Replaces one of the same name; throws on a tool it cannot use. */
  addCustomTool(like: ToolLike): void {
    const tool = checkedTool(like)
    const holder = this.#holderOf(tool.name)
    const origin = holder && this.#origins.get(holder)
    if (holder && origin) this.#moveAside(holder, origin, `the local tool '${tool.name}'`)
    else if (holder) this.#warnReplaced(tool.name, 'custom')
    this.#place(tool, holder && !origin ? holder : undefined)
    this.#changed()
  }

  /** Adds the tools of a server, ours or those of `@langchain/mcp-adapters`. Warns of and skips what it cannot use. */
  addMcpTools(
    tools: Iterable<ToolLike>,
    { server = 'mcp', order = NO_ORDER, parameterNames }: McpToolsOptions = {},
  ): void {
    if (parameterNames) this.#parameterNames.set(server, parameterNames)
    let hasAdded = false
    for (const like of tools) {
      const tool = this.#usable(like, server)
      if (!tool) continue
      this.#addMcpTool(tool, { server, name: tool.name, order })
      hasAdded = true
    }
    if (hasAdded) this.#changed()
  }

  #usable(like: ToolLike, server: string): Tool | undefined {
    try {
      return checkedTool(like, { needsDescription: false })
    } catch (error) {
      this.#logger.warn({ server, reason: (error as Error).message }, 'MCP tool skipped')
      return undefined
    }
  }

  #addMcpTool(tool: Tool, origin: McpOrigin): void {
    const own = this.#registeredAs(origin)
    if (own) {
      this.#warnReplaced(own.name, origin.server)
      this.#place(this.#named(tool, origin, own.name), own)
      return
    }
    const holder = this.#holderOf(origin.name)
    const rival = holder && this.#origins.get(holder)
    if (holder && rival && origin.order < rival.order) {
      this.#moveAside(holder, rival, `server '${origin.server}', which comes first in the configuration`)
      this.#place(this.#named(tool, origin, origin.name))
    } else if (holder) {
      const name = this.#freeName(origin)
      const owner = rival ? `server '${rival.server}'` : 'a local tool'
      this.#logger.warn(
        { tool: origin.name, server: origin.server, registered_as: name },
        `The name is taken by ${owner}`,
      )
      this.#place(this.#named(tool, origin, name))
    } else {
      this.#place(this.#named(tool, origin, origin.name))
    }
  }

  /** The tool of this server and name that is already there, under whichever name. */
  #registeredAs(origin: McpOrigin): Tool | undefined {
    for (const name of namesFor(origin)) {
      const tool = this.#holderOf(name)
      if (!tool && name !== origin.name) return undefined
      const known = tool && this.#origins.get(tool)
      if (known?.server === origin.server && known.name === origin.name) return tool
    }
    return undefined
  }

  /** The first name for the tool, other than its plain one, that nobody has. */
  #freeName(origin: McpOrigin): string {
    for (const name of namesFor(origin)) if (name !== origin.name && !this.#holderOf(name)) return name
    return origin.name
  }

  #moveAside(tool: Tool, origin: McpOrigin, reason: string): void {
    const name = this.#freeName(origin)
    this.#logger.warn(
      { tool: tool.name, server: origin.server, registered_as: name },
      `The name goes to ${reason}`,
    )
    this.#place(this.#named(tool, origin, name), tool)
  }

  #named(tool: Tool, origin: McpOrigin, name: string): Tool {
    const named = tool.name === name ? tool : withName(tool, name)
    this.#origins.set(named, origin)
    return named
  }

  /** Puts `tool` where `holder` stood, or at the end. */
  #place(tool: Tool, holder?: Tool): void {
    const position = holder ? this.#tools.indexOf(holder) : -1
    if (position >= 0) this.#tools[position] = tool
    else this.#tools.push(tool)
    this.#positions.set(tool.name, position >= 0 ? position : this.#tools.length - 1)
    if (position < 0) this.#notedLength++
  }

  #warnReplaced(name: string, source: string): void {
    this.#logger.warn({ tool: name, source }, `Tool '${name}' was registered before and is replaced`)
  }

  /** The array itself, in the format that LangChain's models take. */
  getTools(): Tool[] {
    return this.#tools
  }

  /** By `name` or `lc_name`; `undefined` if there is none. */
  findTool(name: string): Tool | undefined {
    return this.#holderOf(name) ?? this.#tools.find(tool => tool.name === name || tool.lc_name === name)
  }

  #holderOf(name: string): Tool | undefined {
    if (this.#tools.length !== this.#notedLength) this.#noteAllPositions()
    const position = this.#positions.get(name)
    if (position === undefined) return undefined
    const tool = this.#tools[position]
    if (tool?.name === name) return tool
    this.#noteAllPositions()
    return this.#tools[this.#positions.get(name) ?? -1]
  }

  #noteAllPositions(): void {
    this.#positions.clear()
    this.#tools.forEach((tool, position) => {
      this.#positions.set(tool.name, position)
    })
    this.#notedLength = this.#tools.length
  }

  /** Takes a tool away; says whether there was one. */
  remove(name: string): boolean {
    const tool = this.findTool(name)
    if (!tool) return false
    this.#tools.splice(this.#tools.indexOf(tool), 1)
    this.#changed()
    return true
  }

  /** Calls `listener` after tools were added, replaced or removed; gives a function that stops it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  #changed(): void {
    for (const listener of this.#listeners) {
      try {
        listener()
      } catch {
        // The listener's own mistake; the tools are in place.
      }
    }
  }

  /** Server and original name of an MCP tool; `undefined` for any other. */
  originOf(tool: Tool): McpOrigin | undefined {
    return this.#origins.get(tool)
  }

  /** Names the arguments as the tool's server takes them. Tools that are not MCP tools get theirs unchanged. */
  fitNames(tool: Tool, args: Record<string, unknown>): Record<string, unknown> {
    const origin = this.#origins.get(tool)
    if (!origin) return args
    const fitted = fitArgumentNames(args, jsonSchemaOf(tool), this.#mappingOf(origin))
    if (!fitted) return args
    this.#logRenaming(tool.name, args, fitted)
    return fitted.args
  }

  #mappingOf(origin: McpOrigin): Record<string, string> | undefined {
    const fixed = own(ZWAVE_PARAMETER_NAMES, origin.name)
    const configured = own(this.#parameterNames.get(origin.server) ?? {}, origin.name)
    return configured ? { ...fixed, ...configured } : fixed
  }

  #logRenaming(
    name: string,
    before: Record<string, unknown>,
    fitted: { args: Record<string, unknown>; lost: string[] },
  ): void {
    const shown = (args: Record<string, unknown>) => safeValue(args) as Record<string, unknown>
    this.#logger.info(
      { tool: name },
      `Argument names: ${describeRenaming(shown(before), shown(fitted.args))}`,
    )
    for (const lost of fitted.lost) {
      this.#logger.warn({ tool: name, argument: lost }, 'Argument dropped: another one already has that name')
    }
  }
}

function own<T>(values: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined
}

/** The names that a server's tool can go by, best first: `tool`, `server__tool`, `server__tool_2` … */
function* namesFor({ server, name }: McpOrigin): Generator<string> {
  yield name
  yield `${server}__${name}`
  for (let number = 2; ; number++) yield `${server}__${name}_${number}`
}
