import type { Device, Home, NamePhrase, Resolved } from './home.ts'
import type { Block, Language } from './language.ts'
import { makeList, type SlotList, valuesList, WILDCARD } from './lists.ts'
import { type Match, Matcher, Request } from './matcher.ts'
import { Phrases } from './numbers.ts'
import { render, type Values } from './response.ts'
import { corrected } from './spelling.ts'
import { parseTemplate } from './template.ts'
import { listWords, MAX_TOKENS, type Token, tokensOf } from './text.ts'

interface Property {
  type?: unknown
  enum?: unknown[]
  minimum?: number
  maximum?: number
}

type Slots = Readonly<Record<string, unknown>>
type Entries = Readonly<Record<string, readonly { in: string; out: string }[]>>

/** What is known of a tool. */
export interface ToolInfo {
  name: string
  /** Its name on its server, if it has another one here. */
  original?: string | undefined
  schema?: unknown
  sentences?: readonly string[] | undefined
  readOnly?: boolean | undefined
}

export interface PlannedCall {
  tool: string
  args: Record<string, unknown>
}

/** A step as it is kept in a conversation: plain data. */
export interface StoredStep {
  block: string
  slots: Record<string, unknown>
  devices: string[]
}

/** What a conversation remembers. Plain data, kept beside the answer and never read back from its text. */
export interface Dialogue {
  pending?:
    | { kind: 'confirm'; steps: StoredStep[] }
    | { kind: 'choose'; step: StoredStep; options: string[] }
    | undefined
  last?:
    | {
        steps: StoredStep[]
        it: string[]
        them: string[]
        undo?: StoredStep[] | undefined
        tool?: string | undefined
      }
    | undefined
}

/** One thing to do: a block with its slots filled. */
export interface Step {
  block: Block
  slots: Slots
  devices: readonly Device[]
  /** Empty if the calls follow from what is read first. */
  calls: readonly PlannedCall[]
}

export interface Meaning {
  /** `act` changes something, `tell` only reads, `ask` asks back, `talk` calls nothing. */
  kind: 'act' | 'tell' | 'ask' | 'talk'
  steps: Step[]
  /** Equal for requests that mean the same. */
  key: string
  /** The answer, if nothing is called. */
  text?: string
  pending?: Dialogue['pending']
  /** "and …": what was spoken of before is still meant by "them". */
  isMore?: boolean
  free: number
  isGuess: boolean
}

export interface Context {
  dialogue?: Dialogue | undefined
  /** The room the request comes from. */
  area?: string | undefined
}

type Outcome =
  | { kind: 'steps'; steps: Step[]; isMore?: boolean }
  | { kind: 'ask'; text: string; pending: NonNullable<Dialogue['pending']> }
  | { kind: 'refuse' | 'talk'; text: string }

/** The ids of blocks for the sentences of a tool itself. */
const OWN = 'tool '
const GUESS_COST = 100
const MAX_STEPS = 60
const MAX_TRIED = 12
const MAX_CHARS = 2_000
const MAX_NAMED = 6

/** What can be understood in one language with these tools in this home. */
export class Grammar {
  readonly language: Language
  readonly tools: readonly ToolInfo[]
  readonly matcher: Matcher<Block>
  readonly blocks: readonly Block[]
  readonly home: Home | undefined
  readonly problems: { tool: string; message: string }[] = []
  readonly #byName = new Map<string, ToolInfo>()
  readonly #joints: Phrases<true>
  readonly #nameLists = new Map<string, SlotList>()
  readonly #known: ReadonlySet<string>
  readonly #matched = new WeakMap<Request, Map<number, Match<Block>[]>>()
  readonly #values: Entries

  constructor(language: Language, tools: readonly ToolInfo[], home?: Home, values: Entries = {}) {
    this.language = language
    this.tools = tools
    this.home = home
    this.#values = values
    for (const tool of tools) if (tool.original) this.#byName.set(tool.original, tool)
    for (const tool of tools) this.#byName.set(tool.name, tool)
    this.blocks = [...this.#ownBlocks(), ...language.usable(new Set(this.#byName.keys()))]
    this.matcher = new Matcher<Block>({
      sentences: this.blocks.flatMap(block => block.sentences.map(({ node }) => [node, block] as const)),
      rules: language.rules,
      lists: (name, block) => this.#list(name, block),
      skipWords: language.skipWords,
    })
    this.#joints = new Phrases(language.joints.map(text => [text, true] as const))
    const { knownWords, joints } = language
    this.#known = new Set([...this.matcher.words(), ...(home?.vocabulary() ?? []), ...knownWords, ...joints])
  }

  tool(name: string): ToolInfo | undefined {
    return this.#byName.get(name)
  }

  block(id: string): Block | undefined {
    return this.blocks.find(each => each.id === id)
  }

  /** What a request means; `undefined` if no sentence fits. */
  understand(text: string, context: Context = {}): Meaning | undefined {
    const tokens = tokensOf(text.slice(0, MAX_CHARS))
    if (tokens.length === 0 || tokens.length > MAX_TOKENS || text.length > MAX_CHARS) return undefined
    const request = new Request(text, corrected(tokens, this.#known))
    const whole = this.#whole(request, context)
    if (whole && (whole.kind !== 'talk' || whole.steps.length > 0) && whole.free === 0) return whole
    const several = this.#several(request, context) ?? this.#later(request, context)
    if (several && (!whole || several.free <= whole.free)) return several
    return whole
  }

  /** The block's calls for these devices. */
  callsOf(block: Block, slots: Slots, devices: readonly Device[]): PlannedCall[] {
    const tool = block.tool === undefined ? undefined : this.tool(block.tool)
    if (!tool || block.adjust || (block.query && !(block.query.single && devices.length === 1))) return []
    const args = block.id.startsWith(OWN) ? { ...slots } : this.argsOf(tool, slots)
    const argument = this.language.home?.argument
    if (devices.length === 0 || argument === undefined) return [{ tool: tool.name, args }]
    return devices.map(({ id }) => ({ tool: tool.name, args: { [argument]: id, ...args } }))
  }

  /** The slots that the tool takes. */
  argsOf({ schema }: ToolInfo, slots: Slots): Record<string, unknown> {
    const properties = propertiesOf(schema)
    const fitted = (name: string, value: unknown) =>
      properties?.[name]?.type === 'integer' && typeof value === 'number' ? Math.round(value) : value
    const taken = Object.entries(slots).filter(([name]) => !properties || Object.hasOwn(properties, name))
    return Object.fromEntries(taken.map(([name, value]) => [name, fitted(name, value)]))
  }

  step(stored: StoredStep): Step | undefined {
    const block = this.block(stored.block)
    if (!block) return undefined
    const devices = stored.devices.flatMap(id => this.home?.device(id) ?? [])
    return { block, slots: stored.slots, devices, calls: this.callsOf(block, stored.slots, devices) }
  }

  error(key: string, values: Values = {}): string {
    return render(this.language.errors[key] ?? this.language.errors.none ?? '', values)
  }

  /** Sentences of the tools themselves. */
  #ownBlocks(): Block[] {
    return this.tools.flatMap(tool => {
      const sentences = (tool.sentences ?? []).flatMap(text => {
        try {
          return [{ text, node: parseTemplate(text) }]
        } catch (error) {
          this.problems.push({ tool: tool.name, message: `sentence '${text}': ${(error as Error).message}` })
          return []
        }
      })
      return sentences.length > 0
        ? [{ id: `tool ${tool.name}`, intent: `tool ${tool.name}`, sentences, tool: tool.name, slots: {} }]
        : []
    })
  }

  #list(name: string, block: Block | undefined): SlotList | undefined {
    const { language, home } = this
    const own = block?.id.startsWith(OWN) && block.tool ? this.#schemaList(block.tool, name) : undefined
    if (language.lists.has(name)) return language.lists.get(name)
    if (own) return own
    if (name === 'name') return home && this.#nameList(home, block?.domain)
    if (name === 'area') return home && { ...valuesList(home.areas), at: home.areasAt }
    return this.#values[name] && valuesList(this.#values[name])
  }

  /** Names of devices of these kinds; what is typed may be any name. */
  #nameList(home: Home, kinds: readonly string[] | undefined): SlotList {
    const key = kinds?.join(' ') ?? ''
    const list = this.#nameLists.get(key) ?? {
      at: home.namesAt,
      words: () => home.vocabulary(),
      spoken: () => ({ phrases: home.spokenNames(kinds) }),
    }
    this.#nameLists.set(key, list)
    return list
  }

  /** What an argument can be, by the tool's schema. */
  #schemaList(toolName: string, name: string): SlotList {
    const {
      type,
      enum: values,
      minimum: from = 0,
      maximum: to = 100,
    } = propertiesOf(this.tool(toolName)?.schema)?.[name] ?? {}
    if (values) return valuesList(values.map(value => ({ in: String(value), out: value })))
    if (type === 'boolean') return this.language.lists.get('boolean') ?? WILDCARD
    if (type !== 'number' && type !== 'integer') return WILDCARD
    const unit = { words: [...(this.language.lists.get('unit')?.words() ?? [])] }
    const range = { from, to, type: to === 100 ? 'percentage' : 'number' }
    return makeList({ range, unit }, this.language.numbers)
  }

  #matches(request: Request, start = 0): Match<Block>[] {
    const known = this.#matched.get(request) ?? new Map<number, Match<Block>[]>()
    const found = known.get(start) ?? this.matcher.match(request, start)
    this.#matched.set(request, known.set(start, found))
    return found
  }

  /** The best first; of equal ones, the one that was written first. */
  #ranked(matches: readonly Match<Block>[]): Match<Block>[] {
    const total = ({ cost, meaning }: Match<Block>) => cost + (meaning.guess ? GUESS_COST : 0)
    const order = ({ meaning }: Match<Block>) => this.blocks.indexOf(meaning)
    return [...matches].sort((one, other) => total(one) - total(other) || order(one) - order(other))
  }

  /** The best meaning of a request as one sentence. */
  #whole(request: Request, context: Context): Meaning | undefined {
    const { length } = request.tokens
    const matches = this.#ranked(this.#matches(request).filter(({ end }) => end === length))
    const outcomes = matches.slice(0, MAX_TRIED * 4).flatMap(match => {
      const outcome = this.#evaluate(match, context, false)
      return outcome ? [{ outcome, free: match.free, isGuess: match.meaning.guess }] : []
    })
    const order = ['steps', 'ask', 'talk', 'refuse', 'free talk', 'free steps', 'free ask', 'free refuse']
    const rank = ({ outcome, free }: (typeof outcomes)[number]) =>
      order.indexOf(free > 0 ? `free ${outcome.kind}` : outcome.kind)
    const [best] = outcomes.sort((one, other) => rank(one) - rank(other))
    return best && this.#meaning(best.outcome, best.free, best.isGuess)
  }

  /** Several commands joined by "and" or a comma, if every one of them is understood. */
  #several(request: Request, context: Context): Meaning | undefined {
    const { tokens } = request
    const known = new Map<number, Match<Block>[]>()
    if (!tokens.some((_, at) => at > 0 && this.#jointsAt(request, at).length > 0)) return undefined
    const isEnd = (pos: number) => pos === tokens.length || this.#jointsAt(request, pos).length > 0
    const matchesAt = (start: number) => {
      const before = known.get(start)
      if (before) return before
      const matches = this.#ranked(this.#matches(request, start).filter(({ end }) => isEnd(end)))
      const longest = matches.sort((one, other) => one.free - other.free || other.end - one.end)
      known.set(start, longest.slice(0, MAX_TRIED))
      return longest.slice(0, MAX_TRIED)
    }
    type Read = { steps: Step[]; free: number } | undefined
    const from = (start: number, steps: readonly Step[], within: Context): Read => {
      for (const match of matchesAt(start)) {
        const outcome = this.#evaluate(match, within, true)
        if (outcome?.kind !== 'steps') continue
        const all = [...steps, ...outcome.steps]
        if (match.end === tokens.length) return { steps: all, free: match.free }
        if (all.length > MAX_STEPS) return undefined
        const dialogue = outcome.steps.length > 0 ? { last: lastOf(outcome.steps) } : within.dialogue
        for (const next of this.#jointsAt(request, match.end)) {
          const rest = from(next, all, { ...within, dialogue })
          if (rest) return { ...rest, free: rest.free + match.free }
        }
      }
      return undefined
    }
    const found = from(0, [], context)
    if (!found || found.steps.length === 0) return undefined
    return this.#meaning({ kind: 'steps', steps: withoutRepeats(found.steps) }, found.free)
  }

  #jointsAt({ tokens }: Request, pos: number): number[] {
    if (pos >= tokens.length) return []
    const words = this.#joints.at(tokens, pos).filter(({ cost }) => cost === 0)
    return [...words.map(({ end }) => end), ...(tokens[pos]?.afterBreak ? [pos] : [])]
  }

  /** A command for later: "turn off the fan in ten minutes". */
  #later({ text, tokens }: Request, context: Context): Meaning | undefined {
    const whenAt = (at: readonly Token[]) =>
      this.matcher
        .match(new Request(text, at))
        .find(({ meaning, end }) => meaning.dialogue === 'later' && end === at.length)
    const commandIn = (part: readonly Token[]) => {
      const request = new Request(text, part)
      const command = this.#whole(request, context) ?? this.#several(request, context)
      return command?.kind === 'act' && command.free === 0 ? command.steps.flatMap(({ calls }) => calls) : []
    }
    for (let at = 1; at < tokens.length; at++) {
      const [before, after] = [tokens.slice(0, at), tokens.slice(at)]
      for (const [when, what] of [
        [after, before],
        [before, after],
      ] as const) {
        const match = whenAt(when)
        const tool = match?.meaning.tool === undefined ? undefined : this.tool(match.meaning.tool)
        const calls = tool ? commandIn(what).map(call => ({ name: call.tool, args: call.args })) : []
        if (!match || !tool || calls.length === 0) continue
        const slots = { ...match.meaning.slots, ...match.slots, calls }
        const planned = [{ tool: tool.name, args: this.argsOf(tool, slots) }]
        const step = { block: match.meaning, slots, devices: [], calls: planned }
        return this.#meaning({ kind: 'steps', steps: [step] }, 0)
      }
    }
    return undefined
  }

  /** What a match means here and now; `undefined` if it does not apply. */
  #evaluate(
    { meaning: block, slots: said }: Match<Block>,
    context: Context,
    isPart: boolean,
  ): Outcome | undefined {
    const last = context.dialogue?.last
    const { dialogue, last: after, lastTool, lastSlot, notAfter, guess } = block
    if (dialogue === 'later' || (isPart && (after || lastTool || guess))) return undefined
    if (dialogue) return isPart && dialogue !== 'aside' ? undefined : this.#converse(block, said, context)
    if ((after && !this.#isAbout(last, after)) || (notAfter && this.#isAbout(last, notAfter)))
      return undefined
    if (lastTool && last?.tool !== lastTool) return undefined
    if (lastSlot && !last?.steps.some(step => lastSlot.some(slot => Object.hasOwn(step.slots, slot))))
      return undefined
    if (block.tool === undefined) return { kind: 'talk', text: this.#talk(block, said) }
    const slots = { ...block.slots, ...said }
    const outcome = this.#targeted(block, slots, context)
    if (outcome?.kind !== 'steps') return outcome
    for (const [name, { from, to }] of this.language.ranges) {
      const value = slots[name]
      if (typeof value === 'number' && (value < from || value > to))
        return { kind: 'refuse', text: this.error('range', { from, to }) }
    }
    if (!block.confirm) return outcome
    const names = this.#listed(
      outcome.steps.flatMap(({ devices }) => devices),
      'and',
    )
    const pending = { kind: 'confirm' as const, steps: outcome.steps.map(storedOf) }
    return { kind: 'ask', text: this.#talk(block, { ...slots, names }), pending }
  }

  #listed(devices: readonly Device[], joint: 'and' | 'or'): string {
    const ids = devices.map(({ id }) => id)
    return listWords(ids.slice(0, MAX_NAMED), this.language.errors[joint] ?? '')
  }

  #targeted(block: Block, slots: Slots, context: Context, like?: readonly string[]): Outcome | undefined {
    const { name: named, area, ...others } = slots
    const scoped = isPhrase(named) && typeof area === 'string' ? this.home?.within(named, area) : named
    const { except } = others
    const name = isPhrase(scoped) && isPhrase(except) ? { ...scoped, except: except.items } : scoped
    if (!this.home || (!block.domain && !isPhrase(name))) return this.#planned(block, slots, [])
    const resolved = isPhrase(name)
      ? this.#resolve(name, block, context, like)
      : this.#defaultTarget(block, slots, context)
    if (!('problem' in resolved)) return this.#planned(block, others, resolved.devices)
    const { text } = resolved
    if (resolved.problem === 'here') return { kind: 'refuse', text: this.error('here') }
    if (resolved.problem === 'unknown') return this.#unknown(name, text, context)
    if (block.target === 'all') return this.#planned(block, others, resolved.devices)
    const options = resolved.devices.map(({ id }) => id)
    const step = { block: block.id, slots: others, devices: [] }
    const asked = this.error('which', { text, options: this.#listed(resolved.devices, 'or') })
    return { kind: 'ask', text: asked, pending: { kind: 'choose', step, options } }
  }

  /** The devices of a phrase; those of the same kind as `like` come first: "and the bedroom one". */
  #resolve(
    phrase: NamePhrase,
    block: Block,
    { dialogue, area }: Context,
    like: readonly string[] = [],
  ): Resolved {
    const home = this.home as Home
    const options = { kinds: block.domain, roomKind: block.room, last: dialogue?.last, area }
    const isShared = (kind: string) => like.length > 0 && like.every(id => home.device(id)?.kinds.has(kind))
    const kind = Object.keys(home.words.kinds ?? {}).find(isShared)
    const alike =
      kind === undefined ? undefined : home.resolve(phrase, { ...options, kinds: [kind], roomKind: kind })
    if (!alike || 'problem' in alike) return home.resolve(phrase, options)
    return {
      devices: alike.devices.filter(({ kinds }) => block.domain?.some(each => kinds.has(each)) ?? true),
    }
  }

  /** The devices of a sentence that names none. */
  #defaultTarget(block: Block, slots: Slots, { dialogue, area }: Context): Resolved {
    const home = this.home as Home
    const domain = block.domain ?? []
    if (block.last) return { devices: (dialogue?.last?.it ?? []).flatMap(id => home.device(id) ?? []) }
    if (block.target === 'here' && area === undefined) return { problem: 'here', text: '' }
    const place = typeof slots.area === 'string' ? slots.area : area
    const all = home.ofKind(domain, place)
    if (slots.area !== undefined && !all.some(device => device.area === slots.area))
      return { problem: 'unknown', text: String(slots.area) }
    if (all.length === 0) return { problem: 'unknown', text: '' }
    const isClear = block.target !== 'one' || all.length === 1
    return isClear ? { devices: all } : { problem: 'which', devices: all, text: '' }
  }

  #unknown(name: unknown, text: string, context: Context): Outcome {
    const { dialogue, area } = context
    const any = isPhrase(name) && this.home?.resolve(name, { last: dialogue?.last, area })
    const [device] = any && 'devices' in any ? any.devices : []
    if (device) return { kind: 'refuse', text: this.error('cannot', { name: device.id }) }
    return { kind: 'refuse', text: text ? this.error('unknown', { text }) : this.error('nothing_there') }
  }

  #planned(block: Block, slots: Slots, devices: readonly Device[]): Outcome {
    const plain = Object.fromEntries(Object.entries(slots).filter(([, value]) => !isPhrase(value)))
    const step = { block, slots: plain, devices, calls: this.callsOf(block, plain, devices) }
    return { kind: 'steps', steps: [step] }
  }

  /** Answers, corrections and repetitions. */
  #converse(block: Block, said: Slots, context: Context): Outcome | undefined {
    const { pending, last } = context.dialogue ?? {}
    const { dialogue } = block
    if (dialogue === 'aside') return { kind: 'steps', steps: [] }
    if (dialogue === 'yes' && pending?.kind === 'confirm') return this.#restored(pending.steps)
    if (dialogue === 'no' && pending) return { kind: 'talk', text: this.#talk(block, said) }
    if (dialogue === 'choose' && pending?.kind === 'choose') return this.#chosen(pending, said)
    if (dialogue === 'again' && last) return this.#restored(last.steps)
    if (dialogue === 'undo' && last)
      return last.undo ? this.#restored(last.undo) : { kind: 'refuse', text: this.error('undo') }
    if (dialogue !== 'retarget' || pending || !last) return undefined
    const [step, ...more] = last.steps.flatMap(stored => this.step(stored) ?? [])
    if (!step || more.length > 0 || step.devices.length === 0) return undefined
    if (block.slots.question === true && !this.tool(step.block.tool ?? '')?.readOnly) return undefined
    const outcome = this.#targeted(step.block, { ...step.slots, name: said.name }, context, last.it)
    return outcome?.kind === 'steps' ? { ...outcome, isMore: block.slots.more === true } : outcome
  }

  /** The answer to "Which one?". */
  #chosen(
    { step, options }: { step: StoredStep; options: string[] },
    { ordinal, name, all }: Slots,
  ): Outcome | undefined {
    const block = this.block(step.block)
    const resolved = isPhrase(name) ? this.home?.resolve(name, { among: options }) : undefined
    const named = resolved && !('problem' in resolved) ? resolved.devices.map(({ id }) => id) : []
    const counted = typeof ordinal === 'number' ? options.slice(ordinal - 1, ordinal) : named
    const devices = (all === true ? options : counted).flatMap(id => this.home?.device(id) ?? [])
    return block && devices.length > 0 ? this.#planned(block, step.slots, devices) : undefined
  }

  #restored(stored: readonly StoredStep[]): Outcome | undefined {
    const steps = stored.flatMap(each => this.step(each) ?? [])
    return steps.length > 0 ? { kind: 'steps', steps } : undefined
  }

  #isAbout(last: Dialogue['last'], kinds: readonly string[]): boolean {
    const ids = last?.it ?? []
    return ids.length > 0 && ids.every(id => kinds.some(kind => this.home?.device(id)?.kinds.has(kind)))
  }

  #talk(block: Block, said: Slots): string {
    const responses = this.language.responses[block.intent] ?? {}
    return render(responses[block.response ?? 'default'] ?? '', { slots: { ...block.slots, ...said } })
  }

  #meaning(outcome: Outcome, free: number, isGuess = false): Meaning {
    if (outcome.kind !== 'steps' || outcome.steps.length === 0) {
      const text = outcome.kind === 'steps' ? this.error('done') : outcome.text
      const pending = outcome.kind === 'ask' ? outcome.pending : undefined
      return { free, isGuess, kind: pending ? 'ask' : 'talk', steps: [], key: text, text, pending }
    }
    const { steps, isMore = false } = outcome
    const keyOf = ({ block, slots, devices, calls }: Step) =>
      JSON.stringify(calls.length > 0 ? calls : [block.intent, slots, devices.map(({ id }) => id)])
    const isChange = ({ block: { query, adjust, tool = '' } }: Step) =>
      !query && (adjust || !this.tool(tool)?.readOnly)
    const kind = steps.some(isChange) ? 'act' : 'tell'
    return { free, isGuess, kind, steps, key: steps.map(keyOf).join(' + '), isMore }
  }
}

/** What "it", "them" and "again" mean after these steps. */
export function lastOf(steps: readonly Step[], before?: Dialogue['last'], isMore = false): Dialogue['last'] {
  const stored = steps.map(storedOf)
  const named = [...new Set(stored.flatMap(({ devices }) => devices))]
  const it = named.length > 0 ? named : (before?.it ?? [])
  const them = isMore || named.length === 0 ? [...new Set([...(before?.them ?? []), ...named])] : named
  const undo = steps.flatMap(step =>
    step.block.undo && step.devices.length <= 1
      ? [{ ...storedOf(step), slots: { ...step.slots, ...step.block.undo } }]
      : [],
  )
  const { tool } = steps.at(-1)?.block ?? {}
  return { steps: stored, it, them, undo: undo.length === steps.length ? undo : undefined, tool }
}

function storedOf({ block, slots, devices }: Step): StoredStep {
  return { block: block.id, slots: { ...slots }, devices: devices.map(({ id }) => id) }
}

function isPhrase(value: unknown): value is NamePhrase {
  return typeof value === 'object' && value !== null && 'items' in value && 'except' in value
}

/** "It's too cold, turn up the heating" is done once. */
function withoutRepeats(steps: readonly Step[]): Step[] {
  const key = ({ block, slots, devices }: Step) =>
    JSON.stringify([block.adjust, slots, devices.map(({ id }) => id)])
  return steps.filter(
    (step, at) => !step.block.adjust || steps.findIndex(other => key(other) === key(step)) === at,
  )
}

function propertiesOf(schema: unknown): Record<string, Property> | undefined {
  return (Object(schema) as { properties?: Record<string, Property> }).properties
}
