import { setImmediate as nextTurn } from 'node:timers/promises'
import type MiniSearch from 'minisearch'
import type { Tool } from '../tool.ts'
import type { ToolManager } from '../tool-manager.ts'
import { type ToolText, textOfTool } from './tool-text.ts'
import { relatedTerms, termOf, wantedWords } from './words.ts'

/** Others get their turn after so long. */
const SLICE_MS = 8
/** How much a word counts that means much the same as one that was asked for. */
const RELATED_WEIGHT = 0.35
const DEFAULT_LIMIT = 10
const MAX_QUERY_CHARACTERS = 500
const MAX_QUERY_WORDS = 20

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
  readonly #ids = new Map<Tool, number>()
  readonly #byId = new Map<number, Tool>()
  #engine: MiniSearch<ToolText> | undefined
  #nextId = 0
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
    const engine = await this.#fresh()
    const allowed = among && new Set(among)
    const found: Tool[] = []
    for (const id of ranked(engine, wantedWords(query.slice(0, MAX_QUERY_CHARACTERS)))) {
      const tool = this.#byId.get(id)
      if (tool && (!allowed || allowed.has(tool))) found.push(tool)
      if (found.length === limit) break
    }
    return found
  }

  /** One update at a time; what changes during one is for the next. */
  #fresh(): Promise<MiniSearch<ToolText>> {
    const fresh = this.#updating.then(async () => {
      this.#engine ??= await createEngine()
      while (this.#isStale) {
        this.#isStale = false
        await this.#update(this.#engine)
      }
      return this.#engine
    })
    this.#updating = fresh.catch(() => {})
    return fresh
  }

  async #update(engine: MiniSearch<ToolText>): Promise<void> {
    const current = new Set(this.#tools.getTools())
    for (const [tool, id] of this.#ids) {
      if (current.has(tool)) continue
      this.#ids.delete(tool)
      this.#byId.delete(id)
      engine.discard(id)
    }
    let until = performance.now() + SLICE_MS
    for (const tool of current) {
      if (!this.#ids.has(tool)) this.#add(engine, tool)
      if (performance.now() < until) continue
      await nextTurn()
      until = performance.now() + SLICE_MS
    }
  }

  #add(engine: MiniSearch<ToolText>, tool: Tool): void {
    const id = this.#nextId++
    this.#ids.set(tool, id)
    this.#byId.set(id, tool)
    engine.add({ id, ...textOfTool(tool, this.#tools.originOf(tool)?.server) })
  }
}

/** Ids, the best first. Of each word counts what fits it best, itself or one that means much the same. */
function ranked(engine: MiniSearch<ToolText>, words: readonly string[]): number[] {
  const scores = new Map<number, number>()
  for (const word of words.slice(0, MAX_QUERY_WORDS)) {
    const best = new Map<number, number>()
    const note = (hits: readonly { id: number; score: number }[], weight: number) => {
      for (const { id, score } of hits) best.set(id, Math.max(best.get(id) ?? 0, score * weight))
    }
    const term = termOf(word)
    note(engine.search(term), 1)
    for (const other of relatedTerms(term)) note(engine.search(other, EXACT), RELATED_WEIGHT)
    for (const [id, score] of best) scores.set(id, (scores.get(id) ?? 0) + score)
  }
  return [...scores].sort((a, b) => b[1] - a[1] || a[0] - b[0]).map(([id]) => id)
}

const EXACT = { prefix: false, fuzzy: false }

async function createEngine(): Promise<MiniSearch<ToolText>> {
  const { default: Engine } = await import('minisearch')
  return new Engine<ToolText>({
    fields: ['name', 'title', 'description', 'parameters', 'details', 'server'],
    tokenize: text => text.split(' '),
    processTerm: term => term || null,
    searchOptions: {
      processTerm: term => term,
      boost: { name: 4, title: 3, description: 2, parameters: 1, details: 0.5, server: 1 },
      prefix: term => term.length > 3,
      fuzzy: term => (term.length > 3 ? 0.25 : false),
      weights: { fuzzy: 0.3, prefix: 0.5 },
    },
  })
}

const searches = new WeakMap<ToolManager, ToolSearch>()

/** The search over the tools of a manager: there is one, and it is made when it is first asked for. */
export function searchOf(tools: ToolManager): ToolSearch {
  const search = searches.get(tools) ?? new ToolSearch(tools)
  searches.set(tools, search)
  return search
}
