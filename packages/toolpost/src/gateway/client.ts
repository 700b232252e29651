import type { RunOptions } from '../executor/options.ts'
import type { Access } from '../mcp/catalog.ts'
import type { Tool } from '../tools/tool.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import { fitsName, fitsTool } from '../tools/tool-pattern.ts'

/**
 * Someone with a token, and what they may use: patterns with `*` and `?`. All tools if `tools` is left out. Resources
 * and prompts: those named; all of them only if nothing is named at all.
 */
export interface ClientOptions {
  token: string
  tools?: readonly string[] | undefined
  /** URIs. */
  resources?: readonly string[] | undefined
  prompts?: readonly string[] | undefined
  /** Whether it may decide about other clients' waiting calls; by default only the owner does. */
  approves?: boolean | undefined
  /** Over MCP, search tools instead of listing more than a model should be shown; the gateway's setting if left out. */
  toolSearch?: boolean | undefined
}

export type ClientList = Readonly<Record<string, ClientOptions>>

/** The owner: whoever has the gateway's own token, or anyone if authentication is off. */
export const DEFAULT_CLIENT = 'default'

interface ClientParts {
  name?: string
  /** Identifies the owner of sessions; the name if left out. */
  key?: string
  caller?: string
  /** What it may use; everything if left out. */
  may?: Omit<ClientOptions, 'token'> | undefined
}

/** Who makes a request, and what they may see and use. */
export class Client {
  readonly name: string
  /** Its key for `Clients.named`; for an OAuth subject it includes the scopes of the token. */
  readonly key: string
  /** Recorded as the caller of its calls. Absent if no clients are configured. */
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

  /** Whether it is a configured client. Others see everything, as the owner does. */
  get isNamed(): boolean {
    return this.name !== DEFAULT_CLIENT
  }

  /** Whether it may decide about calls that wait for approval. */
  get approves(): boolean {
    return !this.isNamed || this.#may.approves === true
  }

  /** Whether it searches its tools, if configured for it. */
  get toolSearch(): boolean | undefined {
    return this.#may.toolSearch
  }

  /** The tools it may use. */
  tools(): readonly Tool[] {
    const all = this.#manager.getTools()
    return this.#patterns ? all.filter(tool => this.mayUse(tool)) : all
  }

  /** The tool with this name, if the client may use it. */
  findTool(name: string): Tool | undefined {
    const tool = this.#manager.findTool(name)
    return tool && (!this.#patterns || this.mayUse(tool)) ? tool : undefined
  }

  /** Which resources or prompts it may use; `undefined` for all. Those of a server also match as `server__prompt`. */
  access(kind: 'resources' | 'templates' | 'prompts'): Access | undefined {
    const { tools, resources, prompts } = this.#may
    const patterns = (kind === 'prompts' ? prompts : resources) ?? (tools ? [] : undefined)
    return patterns && ((server, key) => !climbs(key) && patterns.some(each => fitsName(each, key, server)))
  }

  /** Whether it may use any tool of a server. */
  seesServer(name: string): boolean {
    return !this.#patterns || this.tools().some(tool => this.#manager.originOf(tool)?.server === name)
  }

  /** Options for a call of the tool with this name; if the client may not use it, it is not found. */
  runOptions(name: string): Pick<RunOptions, 'caller' | 'among'> {
    const { caller } = this
    const tool = this.#patterns && this.#manager.findTool(name)
    if (!this.#patterns || (tool && this.mayUse(tool))) return { caller }
    // For suggestions. Another tool of the same name (or lc_name) would make the forbidden one look found.
    return { caller, among: this.tools().filter(each => each.name !== name && each.lc_name !== name) }
  }

  /** Checked once per tool: a call costs the same however many tools and patterns there are. */
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

/** Whether a URI climbs with `..`, however encoded: it then means something else than the pattern sees. */
function climbs(uri: string): boolean {
  let plain = uri
  for (let pass = 0; pass < 3; pass++)
    plain = plain
      .replace(/%([0-9a-f]{2})/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
      // URL parsers drop these.
      .replace(/[\u0000-\u0020\u007f]/g, '')
  return /(?:^|[/\\:])\.\.(?:[/\\?#;]|$)/.test(plain)
}
