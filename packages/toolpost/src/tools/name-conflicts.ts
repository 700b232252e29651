import type { Logger } from '../logging/logger.ts'
import type { ParameterNames } from './argument-names.ts'
import type { Tool } from './tool.ts'

/** Where an MCP tool came from. */
export interface McpOrigin {
  server: string
  /** The server's own name for the tool, which may be registered under another. */
  name: string
  /** The server's position in the configuration: of two servers, the earlier keeps the plain name. */
  order: number
  /** Argument names to replace with those of the server's tools. */
  parameterNames?: ParameterNames | undefined
}

/** Looks up and renames registered tools. */
interface Registry {
  find(name: string): Tool | undefined
  originOf(tool: Tool): McpOrigin | undefined
  rename(tool: Tool, origin: McpOrigin, name: string): void
  logger: Logger
}

/**
 * Decides which of two tools gets a name: a local tool before those of servers, and among servers the one that comes
 * first in the configuration. The other becomes `<server>__<tool>`. No tool is ever lost, and every conflict is logged.
 */
export class NameConflicts {
  readonly #registry: Registry

  constructor(registry: Registry) {
    this.#registry = registry
  }

  /** The tool with exactly this name; an `lc_name` causes no conflict. */
  #holderOf(name: string): Tool | undefined {
    const tool = this.#registry.find(name)
    return tool?.name === name ? tool : undefined
  }

  /** Frees the name for a local tool. Returns the local tool it replaces, if any. */
  makeRoomFor(name: string): Tool | undefined {
    const holder = this.#holderOf(name)
    const origin = holder && this.#registry.originOf(holder)
    if (holder && origin) this.#moveAside(holder, origin, `the local tool '${name}'`)
    else if (holder) this.#warnReplaced(name, 'custom')
    return origin ? undefined : holder
  }

  /** The tool that the server already has under this name, however it is registered: it is replaced. */
  replacedBy(origin: McpOrigin): Tool | undefined {
    for (const name of namesFor(origin)) {
      const tool = this.#holderOf(name)
      if (!tool && name !== origin.name) return undefined
      const known = tool && this.#registry.originOf(tool)
      if (known?.server !== origin.server || known.name !== origin.name) continue
      this.#warnReplaced(name, origin.server)
      return tool
    }
    return undefined
  }

  /** The name for a tool that is new on a server. */
  nameFor(origin: McpOrigin): string {
    const { server, name, order } = origin
    const holder = this.#holderOf(name)
    if (!holder) return name
    const rival = this.#registry.originOf(holder)
    if (rival && order < rival.order) {
      this.#moveAside(holder, rival, `server '${server}', which comes first in the configuration`)
      return name
    }
    const free = this.#freeName(origin)
    const owner = rival ? `server '${rival.server}'` : 'a local tool'
    this.#registry.logger.warn({ tool: name, server, registered_as: free }, `The name is taken by ${owner}`)
    return free
  }

  #moveAside(tool: Tool, origin: McpOrigin, reason: string): void {
    const name = this.#freeName(origin)
    this.#registry.logger.warn(
      { tool: tool.name, server: origin.server, registered_as: name },
      `The name is now taken by ${reason}`,
    )
    this.#registry.rename(tool, origin, name)
  }

  /** The first free name for the tool other than its plain one. */
  #freeName(origin: McpOrigin): string {
    for (const name of namesFor(origin)) {
      if (name !== origin.name && !this.#holderOf(name)) return name
    }
    return origin.name
  }

  #warnReplaced(name: string, source: string): void {
    this.#registry.logger.warn({ tool: name, source }, `Tool '${name}' is already registered; replacing it`)
  }
}

/** The possible names for a server's tool, best first: `tool`, `server__tool`, `server__tool_2` … */
function* namesFor({ server, name }: McpOrigin): Generator<string> {
  yield name
  yield `${server}__${name}`
  for (let number = 2; ; number++) yield `${server}__${name}_${number}`
}
