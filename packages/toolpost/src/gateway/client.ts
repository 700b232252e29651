import type { RunOptions } from '../executor/options.ts'
import type { Access } from '../mcp/catalog.ts'
import type { Tool } from '../tools/tool.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import { fitsName, fitsTool } from '../tools/tool-pattern.ts'

/**
 * Somebody with a token, and what they may use: patterns with `*` and `?`. All tools if left out; all resources and
 * prompts too if nothing at all is said, else only those that are named.
 */
export interface ClientOptions {
  token: string
  tools?: readonly string[] | undefined
  /** URIs. */
  resources?: readonly string[] | undefined
  prompts?: readonly string[] | undefined
  /** Over MCP, more tools than a model should be shown are searched instead of listed; as the gateway says if left out. */
  toolSearch?: boolean | undefined
}

export type ClientList = Readonly<Record<string, ClientOptions>>

/** Whoever has the gateway's own token, or needs none. */
export const DEFAULT_CLIENT = 'default'

interface ClientParts {
  name?: string
  /** Whose sessions are whose; the name if left out. */
  key?: string
  caller?: string
  /** Everything if left out. */
  may?: Omit<ClientOptions, 'token'> | undefined
}

/** Who makes a request, and what they may see and use. */
export class Client {
  readonly name: string
  /** As whom `Clients.named` knows it: for a subject of an OAuth issuer, also what its token allows. */
  readonly key: string
  /** Whose calls they are. Without clients in the configuration, nobody's in particular. */
  readonly caller: string | undefined
  readonly #may: Omit<ClientOptions, 'token'>
  readonly #patterns: readonly string[] | undefined
  readonly #manager: ToolManager
  readonly #allowed = new WeakMap<Tool, boolean>()

  constructor(tools: ToolManager, parts: ClientParts = {}) {
    const { name = DEFAULT_CLIENT, key = name, caller, may = {} } = parts
    this.name = name
    this.key = key
    this.caller = caller
    this.#may = may
    this.#patterns = may.tools
    this.#manager = tools
  }

  /** Whether it is one of the configuration's. Others see everything, as the owner does. */
  get isNamed(): boolean {
    return this.name !== DEFAULT_CLIENT
  }

  /** Whether it searches its tools, if that is said of it. */
  get toolSearch(): boolean | undefined {
    return this.#may.toolSearch
  }

  /** The tools it may use. */
  tools(): readonly Tool[] {
    const all = this.#manager.getTools()
    return this.#patterns ? all.filter(tool => this.mayUse(tool)) : all
  }

  /** The tool of that name, if it may use it. */
  findTool(name: string): Tool | undefined {
    const tool = this.#manager.findTool(name)
    return tool && (!this.#patterns || this.mayUse(tool)) ? tool : undefined
  }

  /** Which resources or prompts it may use, all if there is no answer. A server's own are also `server__prompt`. */
  access(kind: 'resources' | 'templates' | 'prompts'): Access | undefined {
    const { tools, resources, prompts } = this.#may
    const patterns = (kind === 'prompts' ? prompts : resources) ?? (tools ? [] : undefined)
    return patterns && ((server, key) => !climbs(key) && patterns.some(each => fitsName(each, key, server)))
  }

  /** Whether it may use anything of a server. */
  seesServer(name: string): boolean {
    return !this.#patterns || this.tools().some(tool => this.#manager.originOf(tool)?.server === name)
  }

  /** For a call of the tool of that name: one that it may not use is not found. */
  runOptions(name: string): Pick<RunOptions, 'caller' | 'among'> {
    const { caller } = this
    const tool = this.#patterns && this.#manager.findTool(name)
    if (!this.#patterns || (tool && this.mayUse(tool))) return { caller }
    // For suggestions. One that goes by that name as a second one would let the other be found.
    return { caller, among: this.tools().filter(each => each.name !== name && each.lc_name !== name) }
  }

  /** Looked at once a tool: a call costs the same however many tools and patterns there are. */
  mayUse(tool: Tool): boolean {
    let isAllowed = this.#allowed.get(tool)
    if (isAllowed === undefined) {
      const server = this.#manager.originOf(tool)?.server
      isAllowed = this.#patterns?.some(pattern => fitsTool(pattern, tool, server)) ?? true
      this.#allowed.set(tool, isAllowed)
    }
    return isAllowed
  }
}

/** Whether a URI goes up again, however it is written: what it means is then another one than what a pattern sees. */
function climbs(uri: string): boolean {
  let plain = uri
  for (let pass = 0; pass < 3; pass++)
    plain = plain
      .replace(/%([0-9a-f]{2})/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
      // Dropped by those who read URLs.
      .replace(/[\u0000-\u0020\u007f]/g, '')
  return /(?:^|[/\\:])\.\.(?:[/\\?#;]|$)/.test(plain)
}
