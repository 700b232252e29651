import { CALL_TOOL, searchTools } from '../tools/search/search-tools.ts'
import type { Tool } from '../tools/tool.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import { fitsTool } from '../tools/tool-pattern.ts'
import { isRecord } from '../util/guards.ts'

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
  readonly #isSearched: boolean
  readonly #shown = new Map<string, Tool>()
  #isChanged = true

  constructor(tools: readonly Tool[], manager: ToolManager, maxTools: number, pin: readonly string[] = []) {
    this.all = tools
    this.#maxTools = maxTools
    this.#isSearched = tools.length > maxTools
    if (!this.#isSearched) return
    this.helpers = searchTools({ tools: manager, among: () => tools, onFound: found => this.#show(found) })
    const isPinned = (tool: Tool) =>
      pin.some(pattern => fitsTool(pattern, tool, manager.originOf(tool)?.server))
    this.#show(tools.filter(isPinned))
  }

  /** Adds the tools a conversation has already used. */
  addUsed(calls: Iterable<{ name: string; args?: unknown }>): void {
    if (!this.#isSearched) return
    const names = new Set<unknown>()
    for (const { name, args } of calls) names.add(name === CALL_TOOL && isRecord(args) ? args.name : name)
    this.#show(this.all.filter(tool => names.has(tool.name)))
  }

  /** The tools to offer now, if they have changed since the last call. */
  changed(): readonly Tool[] | undefined {
    if (!this.#isChanged) return undefined
    this.#isChanged = false
    return [...this.helpers, ...(this.#isSearched ? this.#shown.values() : this.all)]
  }

  /** Adds a tool from outside the manager. */
  addHelper(tool: Tool): void {
    if (this.helpers.some(({ name }) => name === tool.name)) return
    this.helpers.push(tool)
    this.#isChanged = true
  }

  /** If there are too many of these as well, the latest stay. */
  #show(tools: Iterable<Tool>): void {
    for (const tool of tools) {
      if (!this.#shown.has(tool.name)) this.#isChanged = true
      this.#shown.delete(tool.name)
      this.#shown.set(tool.name, tool)
    }
    const tooMany = Math.max(0, this.#shown.size - this.#maxTools)
    for (const name of [...this.#shown.keys()].slice(0, tooMany)) this.#shown.delete(name)
  }
}
