import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type MiniSearch from 'minisearch'
import type { SearchResult } from 'minisearch'
import { jsonSchemaOf, propertiesOf } from '../../schema/json-schema.ts'
import { isRecord } from '../../util/guards.ts'
import { packageRoot } from '../../util/package-root.ts'
import type { Tool } from '../tool.ts'
import type { ToolManager } from '../tool-manager.ts'

export interface ToolSearchOptions {
  limit?: number | undefined
  /** The only tools that may be found. */
  among?: readonly Tool[] | undefined
}

/** A word's weight by where it occurs. Tuned by hand on half of the questions in bench/tool-search. */
const WEIGHTS = { name: 6, title: 1, server: 1.5, lead: 2, description: 0.6, parameters: 0.6, details: 0.3 }
type Texts = Record<keyof typeof WEIGHTS, string>

/** Weight of a word that means about the same as a query word, or is spelled similarly; and of words in many queries. */
const RELATED = 0.2
const SIMILAR = 0.4
const LIGHT = 0.4
/** Small, so that a tool that matches several words of a query beats one that matches a single word often. */
const EXPONENT = 0.25

const DEFAULT_LIMIT = 10
const MAX_QUERY_CHARACTERS = 500
const MAX_QUERY_WORDS = 20
/** Anything beyond adds nothing about what a tool does. */
const MAX_CHARACTERS = 4_000
const MAX_PARAMETERS = 50
const MAX_DEPTH = 3
const MAX_KNOWN_TERMS = 1_000
/** The first sentence of a description says what a tool is for; the rest, how to use it. */
const MAX_LEAD = 160
/** After this many tools, other work gets a turn. */
const TOOLS_PER_TURN = 50

/** Finds tools by what they do. The first search builds the index; after a change, the next search updates it. */
export class ToolSearch {
  readonly #tools: ToolManager
  readonly #ids = new Map<Tool, number>()
  readonly #byId = new Map<number, Tool>()
  #lastId = 0
  #isStale = true
  /** How well each tool matches a term, for the terms of earlier queries. */
  readonly #matches = new Map<string, ReadonlyMap<number, number>>()
  #updating: Promise<unknown> = Promise.resolve()
  #engine: MiniSearch | undefined

  constructor(tools: ToolManager) {
    this.#tools = tools
    tools.onChange(() => {
      this.#isStale = true
    })
  }

  /** Best matches first; empty if nothing matches. Adds up how well each word of the query matches each tool. */
  async search(query: string, options?: ToolSearchOptions): Promise<Tool[]> {
    const engine = await this.#fresh()
    const scores = new Map<number, number>()
    for (const term of termsOf(query)) {
      // Each word may match thousands of tools.
      if (!this.#matches.has(term)) await nextTurn()
      const share = vocabulary().light.has(term) ? LIGHT : 1
      for (const [id, score] of this.#matchesOf(term, engine))
        scores.set(id, (scores.get(id) ?? 0) + share * score)
    }
    return this.#best(scores, options)
  }

  /** For a query without matches: the tools with the most similarly spelled words. */
  async nearest(query: string, options?: ToolSearchOptions): Promise<Tool[]> {
    const engine = await this.#fresh()
    const found = engine.search(termsOf(query).join(' '), { fuzzy: 0.6 })
    return this.#best(new Map(found.map(({ id, score }) => [id, score])), options)
  }

  #best(
    scores: ReadonlyMap<number, number>,
    { limit = DEFAULT_LIMIT, among }: ToolSearchOptions = {},
  ): Tool[] {
    const allowed = among && new Set(among)
    const found = [...scores].filter(([id]) => !allowed || allowed.has(this.#byId.get(id) as Tool))
    const best = found.sort(([, a], [, b]) => b - a).slice(0, limit)
    return best.flatMap(([id]) => this.#byId.get(id) ?? [])
  }

  #matchesOf(term: string, engine: MiniSearch): ReadonlyMap<number, number> {
    const known = this.#matches.get(term)
    if (known) return known
    const matches = new Map(matching(engine, term).map(({ id, score }) => [id, score ** EXPONENT]))
    if (this.#matches.size >= MAX_KNOWN_TERMS) this.#matches.clear()
    this.#matches.set(term, matches)
    return matches
  }

  /** One update at a time; changes during one are left to the next. */
  #fresh(): Promise<MiniSearch> {
    const fresh = this.#updating.then(() => this.#update())
    this.#updating = fresh.catch(() => {})
    return fresh
  }

  async #update(): Promise<MiniSearch> {
    this.#engine ??= await createEngine()
    while (this.#isStale) {
      this.#isStale = false
      this.#matches.clear()
      const current = new Set(this.#tools.getTools())
      for (const [tool, id] of this.#ids) {
        if (current.has(tool)) continue
        this.#engine.discard(id)
        this.#ids.delete(tool)
        this.#byId.delete(id)
      }
      let added = 0
      for (const tool of current) {
        if (this.#ids.has(tool)) continue
        const id = ++this.#lastId
        this.#engine.add({ id, ...this.#textsOf(tool) })
        this.#ids.set(tool, id)
        this.#byId.set(id, tool)
        if (++added % TOOLS_PER_TURN === 0) await nextTurn()
      }
    }
    return this.#engine
  }

  #textsOf(tool: Tool): Texts {
    const { server = '', name = tool.name } = this.#tools.originOf(tool) ?? {}
    const description = (tool.description ?? '').trim().slice(0, MAX_CHARACTERS)
    const lead = leadOf(description)
    const rest = description.slice(lead.length)
    return { name, title: tool.title ?? '', server, lead, description: rest, ...schemaTexts(tool) }
  }
}

const searches = new WeakMap<ToolManager, ToolSearch>()

/** The one search over a manager's tools, created on first use. */
export function searchOf(tools: ToolManager): ToolSearch {
  const search = searches.get(tools) ?? new ToolSearch(tools)
  searches.set(tools, search)
  return search
}

/** The tools with a term or a synonym; otherwise those with words that are spelled similarly. */
function matching(engine: MiniSearch, term: string): SearchResult[] {
  const terms = [term, ...(vocabulary().synonyms.get(term) ?? [])]
  const found = engine.search(terms.join(' '), { boostTerm: each => (each === term ? 1 : RELATED) })
  if (found.length > 0 || term.length < 3) return found
  const fuzzy = term.length < 4 ? false : term.length > 6 ? 2 : 1
  return engine.search(term, { prefix: true, fuzzy, boostTerm: () => SIMILAR })
}

async function createEngine(): Promise<MiniSearch> {
  const { default: Engine } = await import('minisearch')
  return new Engine({
    fields: Object.keys(WEIGHTS),
    tokenize: splitWords,
    processTerm: termOf,
    // Queries are terms already.
    searchOptions: { boost: WEIGHTS, tokenize: text => text.split(' '), processTerm: term => term },
  })
}

function leadOf(description: string): string {
  const start = description.slice(0, MAX_LEAD)
  const end = start.search(/[.!?](?:\s|$)|\n/)
  if (end >= 0) return start.slice(0, end)
  // Never cut a word.
  return description.length > MAX_LEAD ? start.slice(0, start.lastIndexOf(' ') + 1) : start
}

/** The names of the parameters; their descriptions and the values they can have. A schema that cannot be read has none. */
function schemaTexts(tool: Tool): Pick<Texts, 'parameters' | 'details'> {
  const names: string[] = []
  const details: string[] = []
  const read = (schema: unknown, depth: number) => {
    if (!isRecord(schema) || depth > MAX_DEPTH) return
    for (const [name, property] of Object.entries(propertiesOf(schema))) {
      if (names.push(name) > MAX_PARAMETERS) return
      if (!isRecord(property)) continue
      const { title, description, enum: values } = property
      const texts = [title, description, ...(Array.isArray(values) ? values.slice(0, 20) : [])]
      details.push(...texts.filter(text => typeof text === 'string'))
      read(property, depth + 1)
      read(property.items, depth + 1)
    }
  }
  try {
    read(jsonSchemaOf(tool), 0)
  } catch {
    // Found by its name and description.
  }
  return {
    parameters: names.join(' ').slice(0, MAX_CHARACTERS),
    details: details.join(' ').slice(0, MAX_CHARACTERS),
  }
}

/** `listOpenIssues_v2` → list Open Issues v2. */
function splitWords(text: string): string[] {
  return text
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .split(/[^\p{L}\p{N}]+/u)
    .filter(word => word !== '')
}

/** The form of a word under which it is indexed: without accents, case and the most common English endings. */
function termOf(word: string): string {
  const folded = word.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
  if (folded.length < 4 || !/^[a-z]+$/.test(folded)) return folded
  const singular = folded
    .replace(/(?<=..)ies$/, 'y')
    .replace(/(ss|x|ch|sh|zz)es$/, '$1')
    .replace(/(?<![sui])s$/, '')
  const stem = singular.replace(ENDING, '')
  if (stem.length < 3) return singular.replace(/e$/, '')
  return stem.replace(/([^aeioulsz])\1$/, '$1').replace(/[ey]$/, '')
}

const ENDING =
  /(?<=[aeiouy][a-z]*)(?:i[zs]ation|ational|ications?|ation|ement|ition|ness|ment|ing|ion|ers|ied|ed|er|or|ly)$/

/** The terms of a query that say what is wanted; all of them if none does. */
function termsOf(query: string): string[] {
  const { filler, phrases } = vocabulary()
  let text = ` ${splitWords(query.slice(0, MAX_QUERY_CHARACTERS)).join(' ').toLowerCase()} `
  for (const [phrase, meaning] of phrases) text = text.replaceAll(` ${phrase} `, ` ${meaning} `)
  const words = splitWords(text)
  const kept = words.filter(word => !filler.has(word))
  return [...new Set((kept.length > 0 ? kept : words).map(termOf))].slice(0, MAX_QUERY_WORDS)
}

interface Vocabulary {
  /** Words that say nothing about what a tool does. */
  filler: ReadonlySet<string>
  /** Terms that say little about it. */
  light: ReadonlySet<string>
  /** `get rid of` → `delete remove` */
  phrases: readonly [string, string][]
  /** For each term, those that people and tool authors use in its place. */
  synonyms: ReadonlyMap<string, ReadonlySet<string>>
}

let cached: Vocabulary | undefined

function vocabulary(): Vocabulary {
  cached ??= readVocabulary()
  return cached
}

function readVocabulary(): Vocabulary {
  const data = JSON.parse(readFileSync(join(packageRoot(), 'data', 'tool-search.json'), 'utf8'))
  const synonyms = new Map<string, Set<string>>()
  for (const line of data.synonyms as string[]) {
    const terms = line.split(' ').map(termOf)
    for (const term of terms)
      synonyms.set(term, new Set([...(synonyms.get(term) ?? []), ...terms.filter(other => other !== term)]))
  }
  return {
    filler: new Set(data.filler.split(' ')),
    light: new Set(data.light.split(' ').map(termOf)),
    phrases: Object.entries(data.phrases as Record<string, string>),
    synonyms,
  }
}
