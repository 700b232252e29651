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
  /** Instead of a step, what is set if the value is not 0, and if it is. */
  toggle?: [unknown, unknown]
}

/** What all sentences of a block mean. */
export interface Block {
  readonly id: string
  readonly intent: string
  readonly sentences: readonly { text: string; node: Node }[]
  readonly tool?: string | undefined
  /** Texts may refer to what was said: `{{ slots.… }}`, `{{ last.… }}`. */
  readonly slots: Readonly<Record<string, unknown>>
  readonly response?: string | undefined
  /** Kinds of devices that a name slot can mean, and those if there are none. */
  readonly domain?: readonly string[] | undefined
  readonly or?: readonly string[] | undefined
  /** What a bare room means. */
  readonly room?: string | undefined
  /** Without a name slot: all devices of the domain, or the only one, or those of the room. */
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
  readonly dialogue?:
    | 'yes'
    | 'no'
    | 'choose'
    | 'again'
    | 'undo'
    | 'retarget'
    | 'aside'
    | 'later'
    | 'mention'
    | undefined
  /** Only a guess, because no other sentence fits. */
  readonly guess?: boolean | undefined
  /** Asked about before it is done. */
  readonly confirm?: boolean | undefined
  /** Nothing is known by this name; another may be given. */
  readonly unknown?: boolean | undefined
  /** A complaint: with a command, only that is done. */
  readonly aside?: boolean | undefined
}

type Data = Record<string, unknown>
type Path = readonly (string | number)[]

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
  readonly responses: Record<string, Record<string, string>> = {}
  readonly errors: Record<string, string> = {}
  readonly numbers: NumberReader
  readonly home: HomeWords | undefined
  readonly problems: Problem[] = []

  /** Files that come first win where two sentences are equally good. */
  constructor(
    code: string,
    files: readonly ParsedFile[],
    { rules = {}, lists = {} }: { rules?: Readonly<Record<string, string>>; lists?: Readonly<Data> } = {},
  ) {
    this.code = code
    const all = files.map(({ data }) => data)
    this.numbers = new NumberReader(Object.assign({}, ...all.map(each => each.numbers)) as NumberWords)
    const homes = all.map(each => each.home).filter(each => each !== undefined)
    this.home = homes.length > 0 ? (Object.assign({}, ...homes.reverse()) as HomeWords) : undefined
    const text = JSON.stringify({ expansion_rules: rules, lists })
    for (const file of [...files, new ParsedFile({ name: 'configuration', text })]) this.#takeWords(file)
    this.#dropCircles()
    for (const file of files) this.#takeIntents(file)
  }

  /** What is wrong with the names a sentence refers to. */
  #missing(node: Node): string | undefined {
    for (const each of nodesOf(node)) {
      if (each.kind === 'rule' && !this.rules.has(each.name)) return `there is no rule <${each.name}>`
      if (each.kind === 'list' && !this.#hasList(each.list)) return `there is no list {${each.list}}`
    }
    return undefined
  }

  #hasList(name: string): boolean {
    return (
      this.lists.has(name) || ['name', 'area', ...Object.keys(this.home?.listing?.lists ?? {})].includes(name)
    )
  }

  #takeWords(file: ParsedFile): void {
    const { data } = file
    this.skipWords.push(...texts(data.skip_words))
    this.knownWords.push(...texts(data.known_words))
    this.joints.push(...texts(data.joints))
    Object.assign(this.spoken, record(data.spoken))
    for (const [name, list] of Object.entries(record(data.lists)))
      this.#checked(file, ['lists', name], () => {
        const written = list as WrittenList
        if (this.lists.has(name)) return
        this.lists.set(name, makeList(written, this.numbers))
        if (written.range) this.ranges.set(name, written.range)
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
      for (const [at, block] of (Array.isArray(data) ? data : []).entries()) {
        const own = record(block)
        const merged = { ...common, ...own, slots: { ...record(common.slots), ...record(own.slots) } }
        const written = Array.isArray(own.sentences) ? own.sentences : [own.sentences]
        const sentences = written.flatMap((text: string, index) => {
          const node = this.#checked(file, ['intents', intent, 'data', at, 'sentences', index], () => {
            const each = parsed(text)
            const missing = this.#missing(each)
            if (missing) throw new TemplateError(missing, 0)
            return each
          })
          return node ? [{ text, node }] : []
        })
        if (sentences.length > 0)
          this.blocks.push({ ...blockOf(merged), intent, id: `${intent} ${this.blocks.length}`, sentences })
      }
    }
  }

  /** Blocks without a tool of their own mean what the first block of their intent means. */
  usable(tools: ReadonlySet<string>): Block[] {
    return this.blocks.flatMap(block => {
      const model = this.blocks.find(({ intent, tool }) => intent === block.intent && tool !== undefined)
      const isOwn = block.tool !== undefined || block.dialogue !== undefined || !model
      const whole = isOwn ? block : { ...model, ...block, slots: { ...model.slots, ...block.slots } }
      const isPossible = whole.tool === undefined || tools.has(whole.tool)
      const isWanted = whole.unlessTool === undefined || !tools.has(whole.unlessTool)
      const says = whole.tool ?? whole.dialogue ?? this.responses[whole.intent]
      return isPossible && isWanted && says !== undefined ? [whole] : []
    })
  }

  #checked<Value>(file: ParsedFile, path: Path, read: () => Value): Value | undefined {
    try {
      return read()
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
      const rules = [...nodesOf(node)].filter(each => each.kind === 'rule')
      return rules.some(each => each.name === wanted || leadsTo(each.name, wanted, seen))
    }
    for (const name of [...this.rules.keys()].filter(each => leadsTo(each, each, new Set()))) {
      this.rules.delete(name)
      const message = `the rule <${name}> refers to itself`
      this.problems.push({ file: this.code, line: 1, column: 1, message })
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

  problem(path: Path, message: string, column = 0): Problem {
    type Located = { range?: [number, number, number]; type?: string } | undefined
    const node = this.#document.getIn(path, true) as Located
    const { line, col } = this.#lines.linePos(node?.range?.[0] ?? 0)
    const isQuoted = node?.type?.startsWith('QUOTE') ? 1 : 0
    return { file: this.#name, line, column: col + column + isQuoted, message }
  }
}

function parsed(text: unknown): Node {
  if (typeof text !== 'string') throw new TemplateError('a sentence has to be text', 0)
  return parseTemplate(text)
}

/** The keys that are written, as a block has them. */
function blockOf(data: Data): Omit<Block, 'id' | 'intent' | 'sentences'> {
  const { domain, area, last, last_tool: lastTool, last_slot: lastSlot } = record(data.requires_context)
  const { or, tool, response, room, query, undo, dialogue, adjust, guess, confirm, unknown, aside } = data
  const notAfter = record(data.excludes_context).last
  const lists = { domain: data.domain ?? domain, or, last, lastSlot, notAfter }
  const target = area === undefined ? data.target : 'here'
  const values = {
    tool,
    response,
    room,
    query,
    undo,
    dialogue,
    adjust,
    guess,
    confirm,
    unknown,
    aside,
    lastTool,
    target,
  }
  const known = { ...values, unlessTool: data.unless_tool, slots: record(data.slots) }
  const written = [
    ...Object.entries(known),
    ...Object.entries(lists).map(([key, value]) => [key, value === undefined ? value : texts(value)]),
  ].filter(([, value]) => value !== undefined)
  return Object.fromEntries(written) as Omit<Block, 'id' | 'intent' | 'sentences'>
}

function record(value: unknown): Data {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Data) : {}
}

function texts(value: unknown): string[] {
  return (Array.isArray(value) ? value : [value]).filter(each => typeof each === 'string')
}
