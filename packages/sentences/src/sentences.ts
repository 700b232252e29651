import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Answered, type CallResult, carryOut, type RunCalls } from './answer.ts'
import { graphOf, type SentenceGraph } from './graph.ts'
import { Home, type HomeSettings, type HomeWords } from './home.ts'
import { Language, ParsedFile, type SentenceFile } from './language.ts'
import { valuesList, type WrittenList } from './lists.ts'
import { valueAt } from './response.ts'
import type { Node } from './template.ts'
import {
  type Context,
  Grammar,
  isFirst,
  type Meaning,
  type PlannedCall,
  type ToolInfo,
} from './understand.ts'

export interface SentencesOptions extends HomeSettings {
  folder?: string | undefined // `custom_sentences`: `<language>/*.yaml`, or files with a `language`
  language?: string | undefined // Tried first; others follow
  rules?: Readonly<Record<string, string>> | undefined
  lists?: Readonly<Record<string, WrittenList>> | undefined
}

/** What can be asked for, with everything that depends on it. */
export interface Situation {
  tools: readonly ToolInfo[]
  files?: readonly SentenceFile[] | undefined // Files that come with the tools
}

const OWN_FILES = fileURLToPath(new URL('../sentences/', import.meta.url))
const MAX_EXAMPLES = 3

/** Understands requests without a model: matches them with sentences, plans calls, and phrases the results. */
export class Sentences {
  readonly #options: SentencesOptions
  readonly #files: ParsedFile[]
  readonly #configured: ParsedFile
  readonly #languages = new Memo<{ languages: Language[]; problems: string[] }>()
  readonly #homes = new Memo<(Home | undefined)[]>()
  readonly #grammars = new Memo<Grammar[]>()
  readonly #graph = new Memo<SentenceGraph>()
  #listed: { result: unknown; text: string } | undefined

  constructor(options: SentencesOptions = {}) {
    this.#options = options
    const custom = options.folder === undefined ? [] : filesIn(options.folder)
    this.#files = [...custom, ...filesIn(OWN_FILES)].map(file => new ParsedFile(file))
    const text = JSON.stringify({ expansion_rules: options.rules, lists: options.lists })
    this.#configured = new ParsedFile({ name: 'configuration', text })
  }

  /** Mistakes in files and in the tools' own sentences. What they concern is left out. */
  problems(situation: Situation): string[] {
    return [...this.#read(situation).problems, ...(this.#of(situation)[0]?.problems ?? [])]
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
  carryOut(meaning: Meaning, situation: Situation, options: Context & { run: RunCalls }): Promise<Answered> {
    const grammars = this.#of(situation)
    const [step] = meaning.steps
    const grammar = grammars.find(({ blocks }) => step && blocks.includes(step.block)) ?? grammars[0]
    return carryOut(meaning, grammar as Grammar, options.run, options.dialogue)
  }

  /** What to say if nothing was understood: three sentences that would work here. */
  help(situation: Situation): string {
    const [grammar] = this.#of(situation)
    const blocks = grammar?.blocks.filter(isFirst) ?? []
    const byTool = new Map<string | undefined, string>()
    for (const { sentences, domain, tool } of [...blocks.filter(each => each.domain), ...blocks]) {
      const said = sentences.map(node => exampleOf(node, grammar as Grammar, domain)).find(Boolean)
      if (said && !byTool.has(tool)) byTool.set(tool, said)
    }
    const examples = [...byTool.values()].slice(0, MAX_EXAMPLES).map(example => `"${example}"`)
    const key = examples.length === 0 ? 'no_sentences' : 'not_understood'
    return grammar?.error(key, { examples: examples.join(', ') }) ?? ''
  }

  /** The call that lists the home, if a tool does. */
  listing(situation: Situation): PlannedCall | undefined {
    const { languages } = this.#read(situation)
    const listing = languages.find(({ home }) => home?.listing)?.home?.listing
    const tool = listing && toolNamed(situation, listing.tool)
    return listing && tool && { tool: tool.name, args: { ...listing.args } }
  }

  /** Takes what the listing call returned. */
  setListing({ success, result }: CallResult): void {
    const text = JSON.stringify(result)
    if (success && text !== this.#listed?.text) this.#listed = { result, text }
  }

  /** All sentences that can be said, for a speech recogniser. The same object until that changes. */
  graph(situation: Situation): SentenceGraph {
    const [grammar] = this.#of(situation)
    return this.#graph.get([grammar], () => graphOf(grammar))
  }

  #read({ files = [] }: Situation): { languages: Language[]; problems: string[] } {
    const key = files.flatMap(({ name, text }) => [name, text])
    return this.#languages.get(key, () => {
      const all = [...this.#files, ...files.map(file => new ParsedFile(file))]
      const codes = new Set([this.#options.language ?? 'en', ...all.map(({ language }) => language)])
      const of = (code: string) => [...all.filter(({ language }) => language === code), this.#configured]
      const languages = [...codes].map(code => new Language(of(code)))
      return { languages, problems: [...all, ...languages].flatMap(each => each.problems) }
    })
  }

  #of(situation: Situation): Grammar[] {
    const { languages } = this.#read(situation)
    const listed = this.#listed
    const homeOf = ({ home, numbers }: Language) =>
      home?.listing && listed ? new Home(listed.result, home, numbers, this.#options) : undefined
    const homes = this.#homes.get([languages, listed], () => languages.map(homeOf))
    const tools = situation.tools.flatMap(({ name, schema, sentences }) => [name, schema, sentences])
    const key = [languages, ...homes.map(home => home?.key), ...tools]
    const grammarOf = (language: Language, at: number) => {
      const { listing } = language.home ?? {}
      const isListed = listing && listed && toolNamed(situation, listing.tool)
      const lists = isListed ? this.#listsIn(listed.result, listing) : undefined
      return new Grammar(language, situation.tools, isListed ? homes[at] : undefined, lists)
    }
    return this.#grammars.get(key, () => languages.map(grammarOf))
  }

  /** Other lists in the listed home, such as scenes, with the names that people gave them. */
  #listsIn(result: unknown, { lists = {} }: NonNullable<HomeWords['listing']>) {
    const { aliases = {} } = this.#options
    const said = (name: string) => [name, name.replaceAll(' ', ''), ...(aliases[name] ?? [])]
    const plain = (text: string) => text.replace(/[()[\]{}<>|;\\]/g, ' ')
    const listAt = (path: string) => {
      const values = [valueAt(result, path) ?? []].flat().map(String)
      return valuesList(values.flatMap(out => said(out).map(text => ({ in: plain(text), out }))))
    }
    return new Map(Object.entries(lists).map(([list, path]) => [list, listAt(path)]))
  }
}

/** A value that is made again when what it depends on changes. */
class Memo<Value> {
  #known: { key: readonly unknown[]; value: Value } | undefined

  get(key: readonly unknown[], make: () => Value): Value {
    const known = this.#known
    const isSame = known?.key.length === key.length && key.every((each, at) => each === known.key[at])
    this.#known = isSame && known ? known : { key, value: make() }
    return this.#known.value
  }
}

function toolNamed({ tools }: Situation, wanted: string): ToolInfo | undefined {
  return tools.find(({ name, original }) => name === wanted || original === wanted)
}

function filesIn(path: string): SentenceFile[] {
  try {
    const files = readdirSync(path, { recursive: true, encoding: 'utf8' })
    const names = files.filter(name => /\.ya?ml$/.test(name))
    const paths = names.sort().map(name => join(path, name))
    return paths.map(name => ({ name, text: readFileSync(name, 'utf8') }))
  } catch (error) {
    return [{ name: path, text: `error: [${(error as Error).message}` }]
  }
}

/** A sentence to show: the first way through a template. */
function exampleOf(node: Node, { home, matcher }: Grammar, domain?: readonly string[]): string | undefined {
  const device = home?.devices.find(({ kinds }) => domain?.some(kind => kinds.has(kind)) ?? true)
  if (domain && !device) return undefined
  const say = (each: Node | undefined): string => {
    if (!each) return '…'
    if (each.kind === 'word') return each.key
    if (each.kind === 'fixed') return ''
    if (each.kind === 'rule') return say(matcher.rule(each.name))
    if (each.kind === 'choice') return each.items.some(item => say(item) === '') ? '' : say(each.items[0])
    if (each.kind === 'sequence') return each.items.map(say).filter(Boolean).join(' ')
    if (each.list === 'name') return device?.id ?? '…'
    return say(matcher.lists.get(each)?.spoken?.())
  }
  return say(node)
}
