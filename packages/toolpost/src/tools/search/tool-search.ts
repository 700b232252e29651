import { inSlices } from '../../runtime/slices.ts'
import type { Tool } from '../tool.ts'
import type { ToolManager } from '../tool-manager.ts'
import { type RankingOptions, TermIndex } from './term-index.ts'
import { termsOfTool } from './tool-text.ts'
import { wantedWords } from './words.ts'

const DEFAULT_LIMIT = 10
const MAX_QUERY_CHARACTERS = 500

export interface ToolSearchOptions {
  limit?: number | undefined
  /** The only tools that may be found. */
  among?: readonly Tool[] | undefined
}

/**
 * Finds tools by what they do. The first search builds the index, in slices; after a change, the next search updates it.
 */
export class ToolSearch {
  readonly #tools: ToolManager
  readonly #index = new TermIndex<Tool>()
  #isStale = true
  #updating: Promise<unknown> = Promise.resolve()

  constructor(tools: ToolManager) {
    this.#tools = tools
    tools.onChange(() => {
      this.#isStale = true
    })
  }

  /** Best matches first; empty if nothing matches. */
  async search(query: string, options?: ToolSearchOptions): Promise<Tool[]> {
    return (await this.#fresh()).ranked(wordsOf(query), this.#ranking(options))
  }

  /** For a query without matches: the tools with the most similarly spelled words. */
  async nearest(query: string, options?: ToolSearchOptions): Promise<Tool[]> {
    return (await this.#fresh()).nearest(wordsOf(query), this.#ranking(options))
  }

  #ranking({ limit = DEFAULT_LIMIT, among }: ToolSearchOptions = {}): RankingOptions<Tool> {
    const allowed = among && among !== this.#tools.getTools() ? new Set(among) : undefined
    const isAllowed = allowed && ((tool: Tool) => allowed.has(tool))
    return { limit, isAllowed }
  }

  /** One update at a time; changes during one are left to the next. */
  #fresh(): Promise<TermIndex<Tool>> {
    const fresh = this.#updating.then(async () => {
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
    await inSlices(index.entries(), tool => {
      if (!current.has(tool)) index.remove(tool)
    })
    await inSlices(current, tool => {
      if (!index.has(tool)) index.add(tool, this.#termsOf(tool))
    })
  }

  #termsOf(tool: Tool) {
    const { server, name = tool.name } = this.#tools.originOf(tool) ?? {}
    return termsOfTool({ tool, name, server })
  }
}

function wordsOf(query: string): string[] {
  return wantedWords(query.slice(0, MAX_QUERY_CHARACTERS))
}

const searches = new WeakMap<ToolManager, ToolSearch>()

/** The one search over a manager's tools, created on first use. */
export function searchOf(tools: ToolManager): ToolSearch {
  const search = searches.get(tools) ?? new ToolSearch(tools)
  searches.set(tools, search)
  return search
}
