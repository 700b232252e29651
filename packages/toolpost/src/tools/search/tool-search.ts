import { setImmediate as nextTurn } from 'node:timers/promises'
import type MiniSearch from 'minisearch'
import { jsonSchemaOf, propertiesOf } from '../../schema/json-schema.ts'
import { isRecord } from '../../util/guards.ts'
import { packageJson } from '../../util/package-root.ts'
import type { Tool } from '../tool.ts'
import type { ToolManager } from '../tool-manager.ts'

interface ToolSearchOptions {
  limit?: number | undefined
  /** The only tools that may be found. */
  among?: readonly Tool[] | undefined
}

/** A word's weight by where it occurs. Tuned by hand on half of the questions in bench/tool-search. */
const WEIGHTS = { name: 6, title: 1, server: 1.5, lead: 2, description: 0.6, parameters: 0.6, details: 0.3 }
/** Weight of a word that means about the same as a query word, or is spelled similarly; and of words in many queries. */
const RELATED = 0.2
const SIMILAR = 0.4
const LIGHT = 0.4
/** Small, so that a tool that matches several words of a query beats one that matches a single word often. */
const EXPONENT = 0.25

const MAX_QUERY_WORDS = 20
/** Anything beyond adds nothing about what a tool does. */
const MAX_CHARACTERS = 4_000
/** After this many tools, other work gets a turn. */
const TOOLS_PER_TURN = 50

type ToolSearch = ReturnType<typeof searchIn>
const searches = new WeakMap<ToolManager, ToolSearch>()

/** The one search over a manager's tools, created on first use. */
export function searchOf(tools: ToolManager): ToolSearch {
  const search = searches.get(tools) ?? searchIn(tools)
  searches.set(tools, search)
  return search
}

/** Finds tools by what they do. The first search after a change builds the index. */
function searchIn(manager: ToolManager) {
  let index: ReturnType<typeof indexOf> | undefined
  manager.onChange(() => {
    index = undefined
  })
  const opened = () => (index ??= indexOf(manager))
  return {
    /** Best matches first; empty if nothing matches. Adds up how well each word of the query matches each tool. */
    async search(query: string, options?: ToolSearchOptions): Promise<Tool[]> {
      const { engine, tools } = await opened()
      const scores = new Map<number, number>()
      for (const term of termsOf(query)) {
        // Each word may match thousands of tools.
        await nextTurn()
        const share = vocabulary().light.has(term) ? LIGHT : 1
        for (const { id, score } of matching(engine, term))
          scores.set(id, (scores.get(id) ?? 0) + share * score ** EXPONENT)
      }
      const best = [...scores].sort(([, a], [, b]) => b - a).map(([id]) => tools[id] as Tool)
      return chosen(best, options)
    },
    /** For a query without matches: the tools with the most similarly spelled words. */
    async nearest(query: string, options?: ToolSearchOptions): Promise<Tool[]> {
      const { engine, tools } = await opened()
      const found = engine.search(termsOf(query).join(' '), { fuzzy: 0.6 }).map(({ id }) => tools[id] as Tool)
      return chosen(found, options)
    },
  }
}

function chosen(found: readonly Tool[], { limit = 10, among }: ToolSearchOptions = {}): Tool[] {
  const allowed = among && new Set(among)
  return found.filter(tool => allowed?.has(tool) ?? true).slice(0, limit)
}

/** The tools with a term or a synonym; otherwise those with words that are spelled similarly. */
function matching(engine: MiniSearch, term: string) {
  const terms = [term, ...(vocabulary().synonyms.get(term) ?? [])]
  const found = engine.search(terms.join(' '), { boostTerm: each => (each === term ? 1 : RELATED) })
  if (found.length > 0 || term.length < 4) return found
  return engine.search(term, { prefix: true, fuzzy: term.length > 6 ? 2 : 1, boostTerm: () => SIMILAR })
}

async function indexOf(manager: ToolManager) {
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
    const { server, name = tool.name } = manager.originOf(tool) ?? {}
    const text = (tool.description ?? '').trim().slice(0, MAX_CHARACTERS)
    // The first sentence says what a tool is for; the rest, how to use it.
    const [lead = ''] = /^.{0,160}?(?=[.!?](?:\s|$)|\n|$)|^.{0,160}\s/.exec(text) ?? []
    engine.add({
      id,
      name,
      title: tool.title,
      server,
      lead,
      description: text.slice(lead.length),
      ...schemaTexts(tool),
    })
    if (id % TOOLS_PER_TURN === 0) await nextTurn()
  }
  return { tools, engine }
}

/** The names of the parameters; their descriptions and the values they can have. A schema that cannot be read has none. */
function schemaTexts(tool: Tool) {
  try {
    const properties = Object.entries(propertiesOf(jsonSchemaOf(tool)))
    const texts = properties.flatMap(([, property]) => {
      const { title, description, enum: values } = isRecord(property) ? property : {}
      return [title, description, values].flat().slice(0, 20)
    })
    const names = properties.map(([name]) => name).join(' ')
    return { parameters: names.slice(0, MAX_CHARACTERS), details: texts.join(' ').slice(0, MAX_CHARACTERS) }
  } catch {
    return {}
  }
}

/** `listOpenIssues_v2` → list Open Issues v2. */
function splitWords(text: string): string[] {
  const ends = /[^\p{L}\p{N}]+|(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u
  return text.split(ends).filter(Boolean)
}

/** The form of a word under which it is indexed: without accents, case and plural. */
function termOf(word: string): string {
  const folded = word.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
  if (folded.length < 4 || !/^[a-z]+$/.test(folded)) return folded
  const singular = folded.replace(/ies$/, 'y').replace(/(ss|x|ch|sh|zz)es$/, '$1')
  return singular.replace(/(?<![sui])s$/, '').replace(/[ey]$/, '')
}

/** The terms of a query that say what is wanted; all of them if none does. */
function termsOf(query: string): string[] {
  const { filler, phrases } = vocabulary()
  let text = ` ${splitWords(query.slice(0, 500)).join(' ').toLowerCase()} `
  for (const [phrase, meaning] of phrases) text = text.replaceAll(` ${phrase} `, ` ${meaning} `)
  const words = splitWords(text)
  const kept = words.filter(word => !filler.has(word))
  return [...new Set((kept.length > 0 ? kept : words).map(termOf))].slice(0, MAX_QUERY_WORDS)
}

let cached: ReturnType<typeof readVocabulary> | undefined
const vocabulary = () => (cached ??= readVocabulary())

function readVocabulary() {
  const data = packageJson('data/tool-search.json')
  /** For each term, those that people and tool authors use in its place. */
  const synonyms = new Map<string, Set<string>>()
  for (const terms of data.synonyms.map((line: string) => line.split(' ').map(termOf)))
    for (const term of terms) synonyms.set(term, new Set([...(synonyms.get(term) ?? []), ...terms]))
  for (const [term, others] of synonyms) others.delete(term)
  return {
    synonyms,
    /** Words that say nothing about what a tool does, and terms that say little about it. */
    filler: new Set<string>(data.filler.split(' ')),
    light: new Set<string>(data.light.split(' ').map(termOf)),
    /** `get rid of` → `delete remove` */
    phrases: Object.entries<string>(data.phrases),
  }
}
