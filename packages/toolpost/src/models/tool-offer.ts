import { innerCall, searchTools } from '../tools/search/search-tools.ts'
import type { Tool } from '../tools/tool.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import { fitsTool } from '../tools/tool-pattern.ts'

/**
 * The tools a model is offered. If there are more than `maxTools`: a search, the pinned ones (names with `*` and `?`), and
 * those this conversation has found or used.
 */
export class ToolOffer {
  /** The tools the model may use, offered or not. */
  readonly all: readonly Tool[]
  /** Tools outside the manager: the search, and the reader of long results. */
  readonly helpers: Tool[] = []
  readonly #maxTools: number
  readonly #shown = new Map<string, Tool>()
  #isChanged = true

  constructor(tools: readonly Tool[], manager: ToolManager, maxTools: number, pin: readonly string[] = []) {
    this.all = tools
    this.#maxTools = maxTools
    if (!this.#isSearched) return
    this.helpers = searchTools({ tools: manager, among: () => tools, onFound: found => this.#show(found) })
    this.#show(
      tools.filter(tool => pin.some(pattern => fitsTool(pattern, tool, manager.originOf(tool)?.server))),
    )
  }

  get #isSearched(): boolean {
    return this.all.length > this.#maxTools
  }

  /** Adds the tools a conversation has already used. */
  addUsed(calls: readonly { name: string; args?: unknown }[]): void {
    const names = new Set(calls.map(call => innerCall(call).name))
    if (this.#isSearched) this.#show(this.all.filter(tool => names.has(tool.name)))
  }

  /** Adds a tool from outside the manager. */
  addHelper(tool: Tool): void {
    if (this.helpers.some(({ name }) => name === tool.name)) return
    this.helpers.push(tool)
    this.#isChanged = true
  }

  /** The tools to offer now, if they have changed since the last call. */
  changed(): readonly Tool[] | undefined {
    if (!this.#isChanged) return undefined
    this.#isChanged = false
    return [...this.helpers, ...(this.#isSearched ? this.#shown.values() : this.all)]
  }

  /** If there are too many of these as well, the latest stay. */
  #show(tools: Iterable<Tool>): void {
    for (const tool of tools) {
      if (!this.#shown.delete(tool.name)) this.#isChanged = true
      this.#shown.set(tool.name, tool)
    }
    const names = [...this.#shown.keys()]
    for (const name of names.slice(0, Math.max(0, names.length - this.#maxTools))) this.#shown.delete(name)
  }
}
