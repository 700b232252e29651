import { isRecord } from '../runtime/guards.ts'
import { CALL_TOOL, searchTools } from '../tools/search/search-tools.ts'
import type { Tool } from '../tools/tool.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import { fitsTool } from '../tools/tool-pattern.ts'

export interface ToolOfferOptions {
  /** What the model may use. */
  tools: readonly Tool[]
  manager: ToolManager
  /** How many tools are offered as they are; more than that are searched. */
  maxTools: number
  /** Names of tools that are always offered, with `*` and `?`. */
  pin?: readonly string[] | undefined
}

/**
 * The tools that a model is offered. If there are too many: a search, those that are pinned, and those that this
 * conversation has found or used.
 */
export class ToolOffer {
  /** What the model may use, whether it is offered or not. */
  readonly all: readonly Tool[]
  /** Tools that the manager does not have: the search, and what reads long results. */
  readonly helpers: Tool[]
  readonly #maxTools: number
  readonly #isSearched: boolean
  readonly #shown = new Map<string, Tool>()
  #isChanged = true

  constructor({ tools, manager, maxTools, pin = [] }: ToolOfferOptions) {
    this.all = tools
    this.#maxTools = maxTools
    this.#isSearched = tools.length > maxTools
    this.helpers = this.#isSearched
      ? searchTools({ tools: manager, among: () => tools, onFound: found => this.#show(found) })
      : []
    if (this.#isSearched)
      this.#show(
        tools.filter(tool => pin.some(pattern => fitsTool(pattern, tool, manager.originOf(tool)?.server))),
      )
  }

  /** Offers also what a conversation has used before. */
  addUsed(calls: Iterable<{ name: string; args?: unknown }>): void {
    if (!this.#isSearched) return
    const names = new Set<unknown>()
    for (const { name, args } of calls) names.add(name === CALL_TOOL && isRecord(args) ? args.name : name)
    this.#show(this.all.filter(tool => names.has(tool.name)))
  }

  /** Those to offer now, if they are others than the last time. */
  changed(): readonly Tool[] | undefined {
    if (!this.#isChanged) return undefined
    this.#isChanged = false
    return [...this.helpers, ...(this.#isSearched ? this.#shown.values() : this.all)]
  }

  /** One more that the manager does not have. */
  addHelper(tool: Tool): void {
    if (this.helpers.some(({ name }) => name === tool.name)) return
    this.helpers.push(tool)
    this.#isChanged = true
  }

  /** The latest stay, if there are too many of these as well. */
  #show(tools: Iterable<Tool>): void {
    for (const tool of tools) {
      if (!this.#shown.has(tool.name)) this.#isChanged = true
      this.#shown.delete(tool.name)
      this.#shown.set(tool.name, tool)
    }
    for (const name of this.#shown.keys()) {
      if (this.#shown.size <= this.#maxTools) return
      this.#shown.delete(name)
    }
  }
}
