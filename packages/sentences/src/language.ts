import { type Document, LineCounter, parseDocument } from 'yaml'
import type { HomeWords } from './home.ts'
import { makeList, type SlotList, type WrittenList } from './lists.ts'
import { NumberReader, type NumberWords } from './numbers.ts'
import { type Node, nodesOf, parseTemplate, TemplateError } from './template.ts'

/** A file of sentences: Home Assistant's format, and a few keys of ours. */
export interface SentenceFile {
  /** How problems name it. */
  name: string
  text: string
}

/** A mistake in a file. What it concerns is left out. */
export interface Problem {
  file: string
  line: number
  column: number
  message: string
}

/** How a value is changed by a step: read it, add or multiply, set it. */
export interface Adjust {
  /** The call that reads the value; its fixed arguments. */
  read: { tool: string; args?: Record<string, unknown> }
  /** Where the value is in its result: the first of these paths that holds a number. */
  value: string[]
  slot: string
  step: number
  small: number
  large: number
  min: number
  max: number
}

/** What all sentences of a block mean. */
export interface Block {
  readonly id: string
  readonly intent: string
  readonly sentences: readonly { text: string; node: Node }[]
  readonly tool?: string | undefined
  readonly slots: Readonly<Record<string, unknown>>
  readonly response?: string | undefined
  /** Kinds of devices that a name slot can mean. */
  readonly domain?: readonly string[] | undefined
  /** What a bare room means. */
  readonly room?: string | undefined
  /** Without a name slot: all devices of the domain, or the only one. */
  readonly target?: 'all' | 'one' | 'here' | undefined
  /** Only after a call about such devices, or with such a tool. */
  readonly last?: readonly string[] | undefined
  readonly lastTool?: string | undefined
  /** Only if the last request filled one of these slots. */
  readonly lastSlot?: readonly string[] | undefined
  /** Not after a call about such devices. */
  readonly notAfter?: readonly string[] | undefined
  /** Left out if there is this tool. */
  readonly unlessTool?: string | undefined
  readonly adjust?: Adjust | undefined
  /** Answered from the listing; `single`: only if it is about several devices. */
  readonly query?: { single?: boolean } | undefined
  /** Slots of the call that undoes it. */
  readonly undo?: Readonly<Record<string, unknown>> | undefined
  readonly dialogue?: 'yes' | 'no' | 'choose' | 'again' | 'undo' | 'retarget' | 'aside' | 'later' | undefined
  /** Only a guess, because no other sentence fits. */
  readonly guess?: boolean | undefined
  /** Asked about before it is done. */
  readonly confirm?: boolean | undefined
}

type Responses = Record<string, Record<string, string>>
type Data = Record<string, unknown>

interface Settings {
  rules?: Readonly<Record<string, string>>
  lists?: Readonly<Record<string, WrittenList>>
}

/** One language: everything its files say, merged. */
export class Language {
  readonly code: string
  readonly blocks: Block[] = []
  readonly rules = new Map<string, Node>()
  readonly lists = new Map<string, SlotList>()
  readonly ranges = new Map<string, { from: number; to: number }>()
  readonly skipWords: string[] = []
  readonly knownWords: string[] = []
  readonly joints: string[] = []
  /** What is said before, after and between commands, also so that it makes none of them: "don't …", "… in ten minutes". */
  readonly spoken: { before?: string[]; after?: string[]; joint?: string[] } = {}
  readonly responses: Responses = {}
  readonly errors: Record<string, string> = {}
  readonly numbers: NumberReader
  readonly home: HomeWords | undefined
  readonly problems: Problem[] = []

  /** Files that come first win where two sentences are equally good. */
  constructor(code: string, files: readonly ParsedFile[], { rules = {}, lists = {} }: Settings = {}) {
    this.code = code
    const all = files.map(({ data }) => data)
    this.numbers = new NumberReader(Object.assign({}, ...all.map(each => each.numbers)) as NumberWords)
    const homes = all.map(each => each.home).filter(each => each !== undefined)
    this.home = homes.length > 0 ? (Object.assign({}, ...homes.reverse()) as HomeWords) : undefined
    for (const file of files) this.#takeWords(file)
    for (const [name, list] of Object.entries(lists)) this.lists.set(name, makeList(list, this.numbers))
    this.#takeWords(
      new ParsedFile({ name: 'configuration', text: JSON.stringify({ expansion_rules: rules }) }),
    )
    this.#dropCircles()
    for (const file of files) this.#takeIntents(file)
  }

  /** What is wrong with the names a sentence refers to. */
  missing(node: Node): string | undefined {
    for (const each of nodesOf(node)) {
      if (each.kind === 'rule' && !this.rules.has(each.name)) return `there is no rule <${each.name}>`
      if (each.kind === 'list' && !this.hasList(each.list)) return `there is no list {${each.list}}`
    }
    return undefined
  }

  hasList(name: string): boolean {
    const isOfHome =
      name === 'name' || name === 'area' || Object.hasOwn(this.home?.listing?.lists ?? {}, name)
    return this.lists.has(name) || isOfHome
  }

  #takeWords(file: ParsedFile): void {
    const { data } = file
    this.skipWords.push(...texts(data.skip_words))
    this.knownWords.push(...texts(data.known_words))
    this.joints.push(...texts(data.joints))
    Object.assign(this.spoken, record(data.spoken))
    for (const [name, list] of Object.entries(record(data.lists))) {
      if (this.lists.has(name)) continue
      try {
        const written = list as WrittenList
        this.lists.set(name, makeList(written, this.numbers))
        if (written.range) this.ranges.set(name, written.range)
      } catch (error) {
        this.problems.push(file.problem(['lists', name], (error as Error).message))
      }
    }
    for (const [name, text] of Object.entries(record(data.expansion_rules))) {
      if (this.rules.has(name)) continue
      const node = this.#parse(file, ['expansion_rules', name], text)
      if (node) this.rules.set(name, node)
    }
    const { intents, errors } = record(data.responses)
    for (const [intent, texts] of Object.entries(record(intents)))
      this.responses[intent] = { ...(texts as Record<string, string>), ...this.responses[intent] }
    for (const [key, text] of Object.entries(record(errors))) this.errors[key] ??= String(text)
  }

  #takeIntents(file: ParsedFile): void {
    for (const [intent, entry] of Object.entries(record(file.data.intents))) {
      const { data, ...common } = record(entry)
      for (const [at, block] of (Array.isArray(data) ? data : []).entries()) {
        const path = ['intents', intent, 'data', at]
        const own = record(block)
        const merged = { ...common, ...own, slots: { ...record(common.slots), ...record(own.slots) } }
        const sentences = texts(own.sentences).flatMap((text, index) => {
          const where = [...path, 'sentences', index]
          const node = this.#parse(file, where, text)
          const missing = node && this.missing(node)
          if (missing) this.problems.push(file.problem(where, missing))
          return node && !missing ? [{ text, node }] : []
        })
        if (sentences.length > 0)
          this.blocks.push({ ...blockOf(merged, intent), id: `${intent} ${this.blocks.length}`, sentences })
      }
    }
  }

  /** Blocks without a tool of their own mean what the first block of their intent means. */
  usable(tools: ReadonlySet<string>): Block[] {
    return this.blocks.flatMap(block => {
      const model = this.blocks.find(({ intent, tool }) => intent === block.intent && tool !== undefined)
      const isOwn = block.tool !== undefined || block.dialogue !== undefined || !model
      const whole = isOwn ? block : { ...model, ...defined(block), slots: { ...model.slots, ...block.slots } }
      const isPossible = whole.tool === undefined || tools.has(whole.tool)
      const isWanted = whole.unlessTool === undefined || !tools.has(whole.unlessTool)
      const says =
        whole.tool !== undefined || whole.dialogue !== undefined || this.responses[whole.intent] !== undefined
      return isPossible && isWanted && says ? [whole] : []
    })
  }

  #parse(file: ParsedFile, path: readonly (string | number)[], text: unknown): Node | undefined {
    try {
      if (typeof text !== 'string') throw new TemplateError('a sentence has to be text', 0)
      return parseTemplate(text)
    } catch (error) {
      this.problems.push(file.problem(path, (error as Error).message, (error as TemplateError).column))
      return undefined
    }
  }

  #dropCircles(): void {
    const leadsTo = (name: string, wanted: string, seen: Set<string>): boolean => {
      const node = this.rules.get(name)
      if (!node || seen.has(name)) return false
      seen.add(name)
      return [...nodesOf(node)].some(
        each => each.kind === 'rule' && (each.name === wanted || leadsTo(each.name, wanted, seen)),
      )
    }
    for (const name of [...this.rules.keys()]) {
      if (!leadsTo(name, name, new Set())) continue
      this.rules.delete(name)
      this.problems.push({
        file: this.code,
        line: 1,
        column: 1,
        message: `the rule <${name}> refers to itself`,
      })
    }
  }
}

/** A file that was read as YAML. */
export class ParsedFile {
  readonly data: Data
  readonly problems: Problem[] = []
  readonly #name: string
  readonly #document: Document.Parsed
  readonly #lines = new LineCounter()

  constructor({ name, text }: SentenceFile) {
    this.#name = name
    this.#document = parseDocument(text, { lineCounter: this.#lines })
    for (const { message, pos } of this.#document.errors) {
      const { line, col } = this.#lines.linePos(pos[0])
      this.problems.push({ file: name, line, column: col, message: message.split('\n')[0] ?? message })
    }
    this.data = this.problems.length > 0 ? {} : record(this.#document.toJS())
  }

  get language(): string {
    return typeof this.data.language === 'string' ? this.data.language : 'en'
  }

  problem(path: readonly (string | number)[], message: string, column = 0): Problem {
    const node = this.#document.getIn(path, true) as
      | { range?: [number, number, number]; type?: string }
      | undefined
    const { line, col } = this.#lines.linePos(node?.range?.[0] ?? 0)
    const isQuoted = node?.type?.startsWith('QUOTE') ? 1 : 0
    return { file: this.#name, line, column: col + column + isQuoted, message }
  }
}

function blockOf(data: Data, intent: string): Omit<Block, 'id' | 'sentences'> {
  const context = record(data.requires_context)
  const domain = data.domain ?? context.domain
  return {
    intent,
    slots: record(data.slots),
    tool: text(data.tool),
    response: text(data.response),
    domain: list(domain),
    room: text(data.room),
    target: context.area === undefined ? (text(data.target) as Block['target']) : 'here',
    last: list(context.last),
    lastTool: text(context.last_tool),
    lastSlot: list(context.last_slot),
    notAfter: list(record(data.excludes_context).last),
    unlessTool: text(data.unless_tool),
    adjust: data.adjust as Adjust | undefined,
    query: data.query as Block['query'],
    undo: data.undo as Block['undo'],
    dialogue: text(data.dialogue) as Block['dialogue'],
    guess: data.guess === true || undefined,
    confirm: data.confirm === true || undefined,
  }
}

function defined(block: Block): Partial<Block> {
  return Object.fromEntries(Object.entries(block).filter(([, value]) => value !== undefined))
}

function record(value: unknown): Data {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Data) : {}
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function list(value: unknown): string[] | undefined {
  return value === undefined ? undefined : texts(value)
}

function texts(value: unknown): string[] {
  return (Array.isArray(value) ? value : [value]).flatMap(each => (typeof each === 'string' ? [each] : []))
}
