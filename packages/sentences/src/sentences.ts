import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Answered, type CallResult, carryOut, type RunCalls } from './answer.ts'
import { graphOf, type SentenceGraph } from './graph.ts'
import { Home, type HomeSettings, type HomeWords } from './home.ts'
import { Language, ParsedFile, type Problem, type SentenceFile } from './language.ts'
import type { WrittenList } from './lists.ts'
import { valueAt } from './response.ts'
import { type Node, nodesOf } from './template.ts'
import {
  type Context,
  Grammar,
  isFirst,
  type Meaning,
  type PlannedCall,
  type ToolInfo,
} from './understand.ts'

export interface SentencesOptions extends HomeSettings {
  /** Home Assistant's `custom_sentences`: `<language>/*.yaml`, or files with a `language`. */
  folder?: string | undefined
  /** Tried first; others follow. */
  language?: string | undefined
  rules?: Readonly<Record<string, string>> | undefined
  lists?: Readonly<Record<string, WrittenList>> | undefined
}

/** What can be asked for, with everything that depends on it. */
export interface Situation {
  tools: readonly ToolInfo[]
  /** Files that come with the tools. */
  files?: readonly SentenceFile[] | undefined
}

type Asked = Context & { run: RunCalls }

const OWN_FILES = fileURLToPath(new URL('../sentences/', import.meta.url))
const MAX_EXAMPLES = 3

/** Understands requests without a model: matches them with sentences, plans calls, and phrases the results. */
export class Sentences {
  readonly #options: SentencesOptions
  readonly #files: ParsedFile[]
  readonly #configured: ParsedFile
  #languages: { key: string; languages: Language[]; problems: Problem[] } | undefined
  #grammars: { key: unknown[]; grammars: Grammar[] } | undefined
  #graph: { grammar: Grammar | undefined; graph: SentenceGraph } | undefined
  #listed: { result: unknown; text: string } | undefined
  #known: { listed: object; languages: readonly Language[]; homes: (Home | undefined)[] } | undefined

  constructor(options: SentencesOptions = {}) {
    this.#options = options
    const custom = options.folder === undefined ? [] : filesIn(options.folder)
    this.#files = [...custom, ...filesIn(OWN_FILES)].map(file => new ParsedFile(file))
    const text = JSON.stringify({ expansion_rules: options.rules, lists: options.lists })
    this.#configured = new ParsedFile({ name: 'configuration', text })
  }

  /** Mistakes in files and in the tools' own sentences. What they concern is left out. */
  problems(situation: Situation): string[] {
    const { problems } = this.#read(situation)
    const ofTools = this.#of(situation)[0]?.problems ?? []
    return [
      ...problems.map(({ file, line, column, message }) => `${file}:${line}:${column}: ${message}`),
      ...ofTools.map(({ tool, message }) => `tool ${tool}: ${message}`),
    ]
  }

  /** What a request means; `undefined` if no sentence fits. */
  understand(text: string, situation: Situation, context: Context = {}): Meaning | undefined {
    let talk: Meaning | undefined
    for (const grammar of this.#of(situation)) {
      const meaning = grammar.understand(text, context)
      if (meaning && (meaning.kind !== 'talk' || meaning.steps.length > 0)) return meaning
      talk ??= meaning
    }
    return talk
  }

  /** Does what `understand` returned. */
  carryOut(meaning: Meaning, situation: Situation, options: Asked): Promise<Answered> {
    const grammars = this.#of(situation)
    const [step] = meaning.steps
    const isOf = ({ blocks }: Grammar) => !step || blocks.includes(step.block)
    const grammar = grammars.find(isOf) ?? (grammars[0] as Grammar)
    return carryOut(meaning, grammar, options.run, options.dialogue)
  }

  async answer(text: string, situation: Situation, options: Asked): Promise<Answered | undefined> {
    const meaning = this.understand(text, situation, options)
    return meaning && this.carryOut(meaning, situation, options)
  }

  /** What to say if nothing was understood: three sentences that would work here. */
  help(situation: Situation): string {
    const [grammar] = this.#of(situation)
    if (!grammar) return ''
    const byTool = new Map<string | undefined, string>()
    const ofHome = grammar.blocks.filter(({ domain }) => domain)
    for (const block of [...ofHome, ...grammar.blocks].filter(isFirst)) {
      const said = block.sentences.map(({ node }) => exampleOf(node, grammar, block.domain)).find(Boolean)
      if (said && !byTool.has(block.tool)) byTool.set(block.tool, said.replace(/\{[^}]*\}/g, '…'))
    }
    const examples = [...byTool.values()].slice(0, MAX_EXAMPLES).map(example => `"${example}"`)
    if (examples.length === 0) return grammar.error('no_sentences')
    return grammar.error('not_understood', { examples: examples.join(', ') })
  }

  /** The call that lists the home, if a tool does. */
  listing(situation: Situation): PlannedCall | undefined {
    const { languages } = this.#read(situation)
    const listing = languages.find(({ home }) => home?.listing)?.home?.listing
    const tool = listing && toolNamed(situation, listing.tool)
    return listing && tool && { tool: tool.name, args: { ...listing.args } }
  }

  /** Takes what the listing call returned. Returns whether that changes what can be said. */
  setListing({ success, result }: CallResult): boolean {
    const text = JSON.stringify(result)
    const hasChanged = success && text !== this.#listed?.text
    if (hasChanged) this.#listed = { result, text }
    return hasChanged
  }

  get hasListing(): boolean {
    return this.#listed !== undefined
  }

  /** All sentences that can be said, for a speech recogniser. The same object until that changes. */
  graph(situation: Situation): SentenceGraph {
    const [grammar] = this.#of(situation)
    if (!this.#graph || this.#graph.grammar !== grammar) this.#graph = { grammar, graph: graphOf(grammar) }
    return this.#graph.graph
  }

  #read({ files = [] }: Situation): { languages: Language[]; problems: Problem[] } {
    const key = files.map(({ name, text }) => `${name} ${text.length}`).join('\n')
    if (this.#languages?.key === key) return this.#languages
    const all = [...this.#files, ...files.map(file => new ParsedFile(file))]
    const { language: preferred = 'en' } = this.#options
    const languages = [...new Set([preferred, ...all.map(({ language }) => language)])].map(
      code => new Language([...all.filter(({ language }) => language === code), this.#configured]),
    )
    const problems = [...all, ...languages].flatMap(each => each.problems)
    this.#languages = { key, languages, problems }
    return this.#languages
  }

  #of(situation: Situation): Grammar[] {
    const { languages } = this.#read(situation)
    const tools = situation.tools.flatMap(({ name, schema, sentences }) => [name, schema, sentences])
    const homes = this.#homes(languages)
    const key = [languages, ...homes.map(home => home?.key), ...tools]
    if (this.#grammars && isSame(this.#grammars.key, key)) return this.#grammars.grammars
    const grammars = languages.map((language, at) => {
      const { listing } = language.home ?? {}
      const isListed = listing && this.#listed && toolNamed(situation, listing.tool)
      const lists = isListed ? this.#listsIn(this.#listed?.result, listing) : {}
      return new Grammar(language, situation.tools, isListed ? homes[at] : undefined, lists)
    })
    this.#grammars = { key, grammars }
    return grammars
  }

  /** The listed home as each language speaks of it. */
  #homes(languages: readonly Language[]): (Home | undefined)[] {
    const listed = this.#listed
    if (!listed || (this.#known?.listed === listed && this.#known.languages === languages))
      return this.#known?.homes ?? []
    const homes = languages.map(({ home, numbers }) =>
      home?.listing ? new Home(listed.result, home, numbers, this.#options) : undefined,
    )
    this.#known = { listed, languages, homes }
    return homes
  }

  /** Other lists in the listed home, such as scenes, with the names that people gave them. */
  #listsIn(result: unknown, { lists = {} }: NonNullable<HomeWords['listing']>) {
    const { aliases = {} } = this.#options
    const entries = Object.entries(lists).map(([list, path]) => {
      const values = valueAt(result, path)
      const names = Array.isArray(values) ? values.filter(value => typeof value === 'string') : []
      const said = (name: string) => [name, name.replaceAll(' ', ''), ...(aliases[name] ?? [])]
      const plain = (text: string) => text.replace(/[()[\]{}<>|;\\]/g, ' ')
      return [list, names.flatMap(out => said(out).map(text => ({ in: plain(text), out })))] as const
    })
    return Object.fromEntries(entries)
  }
}

function toolNamed({ tools }: Situation, wanted: string): ToolInfo | undefined {
  return tools.find(({ name, original }) => name === wanted || original === wanted)
}

function filesIn(path: string): SentenceFile[] {
  try {
    const names = readdirSync(path, { recursive: true, encoding: 'utf8' }).filter(name =>
      /\.ya?ml$/.test(name),
    )
    return names
      .sort()
      .map(name => ({ name: join(path, name), text: readFileSync(join(path, name), 'utf8') }))
  } catch (error) {
    return [{ name: path, text: `error: [${(error as Error).message}` }]
  }
}

/** A sentence to show: the first way through a template. */
function exampleOf(node: Node, { home, language }: Grammar, domain?: readonly string[]): string | undefined {
  const device = home?.devices.find(({ kinds }) => domain?.some(kind => kinds.has(kind)) ?? true)
  const isEmpty = (each: Node) => each.kind === 'sequence' && each.items.length === 0
  if (!device && [...nodesOf(node)].some(each => each.kind === 'list' && each.list === 'name'))
    return undefined
  const say = (each: Node): string => {
    if (each.kind === 'word') return each.key
    if (each.kind === 'sequence') return each.items.map(say).filter(Boolean).join(' ')
    if (each.kind === 'choice') return each.items.some(isEmpty) ? '' : say(each.items[0] as Node)
    if (each.kind === 'rule') return say(language.rules.get(each.name) ?? { kind: 'sequence', items: [] })
    if (each.kind === 'fixed') return ''
    if (each.values) return each.values[0]?.in ?? ''
    if (each.list === 'name' && device) return device.id
    const spoken = language.lists.get(each.list)?.spoken?.()
    if (spoken && 'from' in spoken) return String(Math.round((spoken.from + spoken.to) / 2))
    const [first] = spoken ? [...spoken.phrases] : []
    return first?.join(' ') ?? `{${each.slot}}`
  }
  return say(node)
}

function isSame(known: readonly unknown[], now: readonly unknown[]): boolean {
  return known.length === now.length && known.every((each, at) => each === now[at])
}
