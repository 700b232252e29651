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
/** The first sentence of a description says what a tool is for; the rest, how to use it. */
const MAX_LEAD = 160
/** After this many tools, other work gets a turn. */
const TOOLS_PER_TURN = 50

interface Index {
  /** By their id in the engine. */
  tools: readonly Tool[]
  engine: MiniSearch
}

/** Finds tools by what they do. The first search after a change builds the index. */
export class ToolSearch {
  readonly #tools: ToolManager
  #index: Promise<Index> | undefined

  constructor(tools: ToolManager) {
    this.#tools = tools
    tools.onChange(() => {
      this.#index = undefined
    })
  }

  /** Best matches first; empty if nothing matches. Adds up how well each word of the query matches each tool. */
  async search(query: string, options?: ToolSearchOptions): Promise<Tool[]> {
    this.#index ??= indexOf(this.#tools)
    const index = await this.#index
    const scores = new Map<number, number>()
    for (const term of termsOf(query)) {
      // Each word may match thousands of tools.
      await nextTurn()
      const share = vocabulary().light.has(term) ? LIGHT : 1
      for (const { id, score } of matching(index.engine, term))
        scores.set(id, (scores.get(id) ?? 0) + share * score ** EXPONENT)
    }
    const found = [...scores].sort(([, a], [, b]) => b - a).map(([id]) => index.tools[id])
    return chosen(found, options)
  }

  /** For a query without matches: the tools with the most similarly spelled words. */
  async nearest(query: string, options?: ToolSearchOptions): Promise<Tool[]> {
    this.#index ??= indexOf(this.#tools)
    const { engine, tools } = await this.#index
    const found = engine.search(termsOf(query).join(' '), { fuzzy: 0.6 }).map(({ id }) => tools[id])
    return chosen(found, options)
  }
}

function chosen(
  found: readonly (Tool | undefined)[],
  { limit = DEFAULT_LIMIT, among }: ToolSearchOptions = {},
): Tool[] {
  const allowed = among && new Set(among)
  return found.filter(tool => tool !== undefined && (!allowed || allowed.has(tool))).slice(0, limit) as Tool[]
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

async function indexOf(manager: ToolManager): Promise<Index> {
  const { default: Engine } = await import('minisearch')
  const tools = [...manager.getTools()]
  const engine = new Engine({
    fields: Object.keys(WEIGHTS),
    tokenize: splitWords,
    processTerm: termOf,
    // Queries are terms already.
    searchOptions: { boost: WEIGHTS, tokenize: text => text.split(' '), processTerm: term => term },
  })
  for (const [id, tool] of tools.entries()) {
    engine.add({ id, ...textsOf(tool, manager) })
    if (id % TOOLS_PER_TURN === 0) await nextTurn()
  }
  return { tools, engine }
}

function textsOf(tool: Tool, tools: ToolManager): Texts {
  const { server = '', name = tool.name } = tools.originOf(tool) ?? {}
  const text = (tool.description ?? '').trim().slice(0, MAX_CHARACTERS)
  const lead = leadOf(text)
  return {
    name,
    title: tool.title ?? '',
    server,
    lead,
    description: text.slice(lead.length),
    ...schemaTexts(tool),
  }
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
  if (cached) return cached
  const data = JSON.parse(readFileSync(join(packageRoot(), 'data', 'tool-search.json'), 'utf8'))
  const synonyms = new Map<string, Set<string>>()
  for (const terms of data.synonyms.map((line: string) => line.split(' ').map(termOf)))
    for (const term of terms) synonyms.set(term, new Set([...(synonyms.get(term) ?? []), ...terms]))
  for (const [term, others] of synonyms) others.delete(term)
  const filler = new Set<string>(data.filler.split(' '))
  const light = new Set<string>(data.light.split(' ').map(termOf))
  cached = { filler, light, phrases: Object.entries(data.phrases), synonyms }
  return cached
}
