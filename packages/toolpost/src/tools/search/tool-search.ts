import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Tool } from '../tool.ts'
import type { ToolManager } from '../tool-manager.ts'
import { TermIndex } from './term-index.ts'
import { termsOfTool } from './tool-text.ts'
import { wantedWords } from './words.ts'

/** Others get their turn after so long. */
const SLICE_MS = 8
const DEFAULT_LIMIT = 10
const MAX_QUERY_CHARACTERS = 500

export interface ToolSearchOptions {
  limit?: number | undefined
  /** The only tools that may be found. */
  among?: readonly Tool[] | undefined
}

/**
 * Finds tools by what they do. The index is made by the first search, in slices, and brought up to date by the next one
 * after a change.
 */
export class ToolSearch {
  readonly #tools: ToolManager
  #index: TermIndex<Tool> | undefined
  #isStale = true
  #updating: Promise<unknown> = Promise.resolve()

  constructor(tools: ToolManager) {
    this.#tools = tools
    tools.onChange(() => {
      this.#isStale = true
    })
  }

  /** The best first; none if nothing fits. */
  async search(query: string, { limit = DEFAULT_LIMIT, among }: ToolSearchOptions = {}): Promise<Tool[]> {
    const index = await this.#fresh()
    const allowed = among && new Set(among)
    const found: Tool[] = []
    for (const tool of index.ranked(wantedWords(query.slice(0, MAX_QUERY_CHARACTERS)))) {
      if (!allowed || allowed.has(tool)) found.push(tool)
      if (found.length === limit) break
    }
    return found
  }

  /** One update at a time; what changes during one is for the next. */
  #fresh(): Promise<TermIndex<Tool>> {
    const fresh = this.#updating.then(async () => {
      this.#index ??= await TermIndex.create()
      while (this.#isStale) {
        this.#isStale = false
        await this.#update(this.#index)
      }
      return this.#index
    })
    this.#updating = fresh.catch(() => {})
    return fresh
  }

  async #update(index: TermIndex<Tool>): Promise<void> {
    const current = new Set(this.#tools.getTools())
    for (const tool of index.entries()) if (!current.has(tool)) index.remove(tool)
    let until = performance.now() + SLICE_MS
    for (const tool of current) {
      if (!index.has(tool)) index.add(tool, this.#termsOf(tool))
      if (performance.now() < until) continue
      await nextTurn()
      until = performance.now() + SLICE_MS
    }
  }

  #termsOf(tool: Tool) {
    const { server, name = tool.name } = this.#tools.originOf(tool) ?? {}
    return termsOfTool({ tool, name, server })
  }
}

const searches = new WeakMap<ToolManager, ToolSearch>()

/** The search over the tools of a manager: there is one, and it is made when it is first asked for. */
export function searchOf(tools: ToolManager): ToolSearch {
  const search = searches.get(tools) ?? new ToolSearch(tools)
  searches.set(tools, search)
  return search
}
