import { type Document, LineCounter, parseDocument } from 'yaml'
import type { HomeWords } from './home.ts'
import { makeList, type SlotList, type WrittenList } from './lists.ts'
import { NumberReader, type NumberWords } from './numbers.ts'
import { mistake, type Node, nodesOf, parseTemplate } from './template.ts'

/** A file of sentences: Home Assistant's format, and a few keys of ours. */
export type SentenceFile = { name: string; text: string }

/** How a value is changed by a step: `read` it, add or multiply or `toggle`, set `slot`. */
export interface Adjust extends Record<'step' | 'small' | 'large' | 'min' | 'max', number> {
  read: { tool: string; args?: Record<string, unknown> }
  value: string[] // Where the value is in the result: the first of these paths that holds one
  slot: string
  toggle?: [unknown, unknown]
}

/** What all sentences of a block mean. The keys are those of the files; sentences/en.yaml describes them. */
export interface Block
  extends Partial<Record<'tool' | 'response' | 'room' | 'unless_tool', string>>,
    Partial<Record<'guess' | 'confirm' | 'unknown' | 'aside', boolean>> {
  id: string
  intent: string
  sentences: readonly Node[]
  slots: Readonly<Record<string, unknown>>
  domain?: readonly string[]
  or?: readonly string[]
  target?: 'all' | 'one' | 'here'
  requires_context?: { last?: string[]; last_tool?: string; last_slot?: string[] }
  excludes_context?: { last?: string[] }
  adjust?: Adjust
  query?: { single?: boolean }
  undo?: Readonly<Record<string, unknown>>
  dialogue?: 'yes' | 'no' | 'choose' | 'again' | 'undo' | 'retarget' | 'aside' | 'later' | 'mention'
}

type Data = Record<string, unknown>
type Path = readonly (string | number)[]

export class Language {
  readonly blocks: Block[] = []
  readonly rules = new Map<string, Node>()
  readonly lists = new Map<string, SlotList>()
  readonly ranges = new Map<string, { from: number; to: number }>()
  readonly skipWords: string[] = []
  readonly knownWords: string[] = []
  readonly joints: string[] = []
  /** What is said before, after and between commands, also so that it makes none of them: "don't …", "… in ten minutes". */
  readonly spoken: { before?: string[]; after?: string[]; joint?: string[] } = {}
  readonly responses: Record<string, Record<string, string>> = {}
  readonly errors: Record<string, string> = {}
  readonly numbers: NumberReader
  readonly home: HomeWords | undefined
  readonly problems: string[] = []

  /** Files that come first win where two sentences are equally good. */
  constructor(files: readonly ParsedFile[]) {
    const all = files.map(({ data }) => data)
    this.numbers = new NumberReader(Object.assign({}, ...all.map(each => each.numbers)) as NumberWords)
    const homes = all.flatMap(({ home }) => home ?? [])
    this.home = homes.length > 0 ? (Object.assign({}, ...homes.reverse()) as HomeWords) : undefined
    for (const file of files) this.#takeWords(file)
    for (const file of files)
      for (const name of Object.keys(record(file.data.expansion_rules)))
        if (this.#leadsTo(name, name) && this.rules.delete(name))
          this.problems.push(file.problem(['expansion_rules', name], `the rule <${name}> refers to itself`))
    for (const file of files) this.#takeIntents(file)
  }

  /** Blocks without a tool of their own mean what the first block of their intent means. */
  usable(tools: ReadonlySet<string>): Block[] {
    const whole = this.blocks.map(block => {
      const model = this.blocks.find(({ intent, tool }) => intent === block.intent && tool !== undefined)
      const isOwn = block.tool !== undefined || block.dialogue !== undefined || !model
      return isOwn ? block : { ...model, ...block, slots: { ...model.slots, ...block.slots } }
    })
    return whole.filter(({ tool, dialogue, intent, unless_tool }) => {
      const says = tool ?? dialogue ?? this.responses[intent]
      return says !== undefined && !(tool && !tools.has(tool)) && !(unless_tool && tools.has(unless_tool))
    })
  }

  #takeWords(file: ParsedFile): void {
    const { data } = file
    this.skipWords.push(...texts(data.skip_words))
    this.knownWords.push(...texts(data.known_words))
    this.joints.push(...texts(data.joints))
    Object.assign(this.spoken, record(data.spoken))
    for (const [name, list] of Object.entries(record(data.lists) as Record<string, WrittenList>))
      this.#checked(file, ['lists', name], () => {
        if (this.lists.has(name)) return
        this.lists.set(name, makeList(list, this.numbers))
        if (list.range) this.ranges.set(name, list.range)
      })
    for (const [name, text] of Object.entries(record(data.expansion_rules)))
      this.#checked(file, ['expansion_rules', name], () => {
        if (!this.rules.has(name)) this.rules.set(name, parsed(text))
      })
    const { intents, errors } = record(data.responses)
    for (const [intent, written] of Object.entries(record(intents)))
      this.responses[intent] = { ...(written as Record<string, string>), ...this.responses[intent] }
    for (const [key, text] of Object.entries(record(errors))) this.errors[key] ??= String(text)
  }

  #takeIntents(file: ParsedFile): void {
    for (const [intent, entry] of Object.entries(record(file.data.intents))) {
      const { data, ...common } = record(entry)
      if (!Array.isArray(data)) this.problems.push(file.problem(['intents', intent], 'data has to be a list'))
      for (const [at, each] of (Array.isArray(data) ? data : []).entries()) {
        const own = record(each)
        const context = record(own.requires_context)
        const slots = { ...record(common.slots), ...record(own.slots) }
        const written: Data = { ...common, ...own, slots }
        const domain =
          written.domain ?? context.domain ?? (written.tool === undefined ? slots.domain : undefined)
        const here = context.area === undefined ? {} : { target: 'here' }
        const kinds = domain === undefined ? {} : { domain: texts(domain) }
        const lines = Array.isArray(own.sentences) ? own.sentences : [own.sentences]
        const sentences = lines.flatMap((text, line) => {
          const path = ['intents', intent, 'data', at, 'sentences', line]
          return this.#checked(file, path, () => this.#known(parsed(text))) ?? []
        })
        const id = `${intent} ${this.blocks.length}`
        const block = { ...written, ...kinds, ...here, intent, id, sentences } as unknown as Block
        if (sentences.length > 0) this.blocks.push(block)
      }
    }
  }

  /** The node, if everything that it refers to is there. */
  #known(node: Node): Node {
    const lists = ['', 'name', 'area', ...this.lists.keys(), ...Object.keys(this.home?.listing?.lists ?? {})]
    for (const each of nodesOf(node)) {
      if (each.kind === 'rule' && !this.rules.has(each.name))
        throw mistake(`there is no rule <${each.name}>`, 0)
      if (each.kind === 'list' && !lists.includes(each.list))
        throw mistake(`there is no list {${each.list}}`, 0)
    }
    return node
  }

  #checked<Value>(file: ParsedFile, path: Path, read: () => Value): Value | undefined {
    try {
      return read()
    } catch (error) {
      const { message, column } = error as ReturnType<typeof mistake>
      this.problems.push(file.problem(path, message, column))
      return undefined
    }
  }

  #leadsTo(name: string, wanted: string, seen = new Set<string>()): boolean {
    const node = this.rules.get(name)
    if (!node || seen.has(name)) return false
    seen.add(name)
    const rules = [...nodesOf(node)].filter(each => each.kind === 'rule')
    return rules.some(each => each.name === wanted || this.#leadsTo(each.name, wanted, seen))
  }
}

export class ParsedFile {
  readonly data: Data
  readonly problems: string[] = []
  readonly #name: string
  readonly #document: Document.Parsed
  readonly #lines = new LineCounter()

  constructor({ name, text }: SentenceFile) {
    this.#name = name
    this.#document = parseDocument(text, { lineCounter: this.#lines })
    for (const { message, pos } of this.#document.errors) {
      const { line, col } = this.#lines.linePos(pos[0])
      this.problems.push(`${name}:${line}:${col}: ${message.split('\n')[0]}`)
    }
    this.data = this.problems.length > 0 ? {} : record(this.#document.toJS())
  }

  get language(): string {
    return typeof this.data.language === 'string' ? this.data.language : 'en'
  }

  problem(path: Path, message: string, column = 0): string {
    type Located = { range?: [number, number, number]; type?: string } | undefined
    const existing = path.findLastIndex((_, at) => this.#document.hasIn(path.slice(0, at + 1))) + 1
    const node = this.#document.getIn(path.slice(0, existing), true) as Located
    const { line, col } = this.#lines.linePos(node?.range?.[0] ?? 0)
    const isQuoted = node?.type?.startsWith('QUOTE') ? 1 : 0
    return `${this.#name}:${line}:${col + column + isQuoted}: ${message}`
  }
}

function parsed(text: unknown): Node {
  if (typeof text !== 'string') throw mistake('a sentence has to be text', 0)
  return parseTemplate(text)
}

function record(value: unknown): Data {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Data) : {}
}

function texts(value: unknown): string[] {
  return (Array.isArray(value) ? value : [value]).filter(each => typeof each === 'string')
}
