import type { ToolExecutor } from '../../executor/executor.ts'
import { DEFAULT_MAX_TOOLS } from '../../models/limits.ts'
import { isRecord } from '../../runtime/guards.ts'
import type { BigResults } from '../../tools/results/big-results.ts'
import { READ_RESULT } from '../../tools/results/read-result.ts'
import { onlyFor, type ResultOwner } from '../../tools/results/result-store.ts'
import { CALL_TOOL, FIND_TOOLS, innerCall, searchTools } from '../../tools/search/search-tools.ts'
import type { Tool } from '../../tools/tool.ts'
import { fitsTool } from '../../tools/tool-pattern.ts'
import type { Client } from '../clients.ts'
import { REMEMBERED_CLIENTS } from '../limits.ts'

/** How tools are offered to clients. */
export interface OfferSettings {
  /** The default for clients that do not configure it; `false` if left out. */
  toolSearch?: boolean | undefined
  /** If there are more tools, they are searched instead of listed; 40 if left out. */
  maxTools?: number | undefined
  /** Tools that are always listed: names with `*` and `?`. */
  pin?: readonly string[] | undefined
}

/** The tools a client has found and used so far. */
export class Discoveries {
  readonly #names = new Set<string>()
  /** Whether the client knows that there are results to read in parts. */
  readsResults = false

  has({ name }: Tool): boolean {
    return this.#names.has(name)
  }

  /** If there are too many, the latest stay; returns whether any is new. */
  add(names: Iterable<string>, max: number): boolean {
    let isNew = false
    for (const name of names) {
      if (!this.#names.delete(name)) isNew = true
      this.#names.add(name)
    }
    for (const name of this.#names) {
      if (this.#names.size <= max) break
      this.#names.delete(name)
    }
    return isNew
  }
}

/** The discoveries of clients without sessions. */
export class KnownClients {
  /** The least recently seen first. */
  readonly #known = new Map<string, Discoveries>()

  of(key: string): Discoveries {
    const known = this.#known.get(key) ?? new Discoveries()
    this.#known.delete(key)
    this.#known.set(key, known)
    const [oldest] = this.#known.keys()
    if (oldest !== undefined && this.#known.size > REMEMBERED_CLIENTS) this.#known.delete(oldest)
    return known
  }
}

export interface ClientToolsOptions {
  executor: ToolExecutor
  results: BigResults | undefined
  settings: OfferSettings
  client: Client | undefined
  discoveries: Discoveries
  owner: ResultOwner
  /** Called when the list has changed. */
  onChange(): void
}

/** The tools as one client sees them: all of them, or a search over them. */
export class ClientTools {
  readonly #options: ClientToolsOptions

  constructor(options: ClientToolsOptions) {
    this.#options = options
  }

  get owner(): ResultOwner {
    return this.#options.owner
  }

  /** The tools for `tools/list`. */
  listed(): readonly Tool[] {
    const { executor, settings, discoveries } = this.#options
    const { pin = [] } = settings
    const all = this.#all()
    const isPinned = (tool: Tool) =>
      pin.some(pattern => fitsTool(pattern, tool, executor.tools.originOf(tool)?.server))
    const isSearched = this.#searches && all.length > this.#maxTools
    const shown = isSearched ? all.filter(tool => discoveries.has(tool) || isPinned(tool)) : all
    const helpers = [...(isSearched ? this.#search() : []), ...this.#reader()]
    const isOurs = ({ name }: Tool) => helpers.some(helper => helper.name === name)
    return helpers.length > 0 ? [...helpers, ...shown.filter(tool => !isOurs(tool))] : shown
  }

  /** The intended call, and tools for it from outside the manager. */
  meant<Call extends { name: string; args: unknown }>(call: Call): { call: Call; also: readonly Tool[] } {
    const meant = this.#searches ? innerCall(call) : call
    if (meant.name === READ_RESULT && this.#readsOurs(meant.args))
      return { call: meant, also: [this.#options.results?.tool(this.owner) as Tool] }
    const isSearch = this.#searches && (meant.name === FIND_TOOLS || meant.name === CALL_TOOL)
    return { call: meant, also: isSearch ? this.#search() : [] }
  }

  /** Lists a called tool from now on, and the result reader if its result is long. */
  noteCall(name: string, { isLong }: { isLong: boolean }): void {
    const { discoveries, client, executor, onChange } = this.#options
    const tool = client ? client.findTool(name) : executor.tools.findTool(name)
    const isFound = this.#searches && tool !== undefined && discoveries.add([tool.name], this.#maxTools)
    const isFirst = isLong && !discoveries.readsResults
    if (isLong) discoveries.readsResults = true
    if (isFound || isFirst) onChange()
  }

  get #searches(): boolean {
    const { client, settings } = this.#options
    return client?.toolSearch ?? settings.toolSearch ?? false
  }

  get #maxTools(): number {
    return this.#options.settings.maxTools ?? DEFAULT_MAX_TOOLS
  }

  #all(): readonly Tool[] {
    const { client, executor } = this.#options
    return client?.tools() ?? executor.tools.getTools()
  }

  #search(): Tool[] {
    const { executor, discoveries, onChange } = this.#options
    return searchTools({
      tools: executor.tools,
      among: () => this.#all(),
      onFound: found => {
        const names = found.map(({ name }) => name)
        if (discoveries.add(names, this.#maxTools)) onChange()
      },
    })
  }

  /** The result reader, once there is something to read. */
  #reader(): Tool[] {
    const { results, owner } = this.#options
    return results?.store.hasAny(onlyFor(owner)) ? [results.tool(owner)] : []
  }

  /** A server may have a tool of the same name for its own handles. */
  #readsOurs(args: unknown): boolean {
    const { results, executor } = this.#options
    if (!results) return false
    const handle = isRecord(args) ? String(args.handle) : ''
    return !executor.tools.findTool(READ_RESULT) || results.store.find(handle, () => true) !== 'unknown'
  }
}
