import type { Device, Home, NamePhrase, Resolved } from './home.ts'
import type { Block, Language } from './language.ts'
import { makeList, type SlotList, valuesList, WILDCARD } from './lists.ts'
import { type Match, Matcher } from './matcher.ts'
import { Phrases } from './numbers.ts'
import { render, type Values } from './response.ts'
import { parseTemplate } from './template.ts'
import { corrected, listWords, MAX_TOKENS, type Token, tokensOf } from './text.ts'

type Slots = Readonly<Record<string, unknown>>
type MatchesAt = (start: number) => Match[]
type Property = { type?: unknown; enum?: unknown[]; minimum?: number; maximum?: number }

export interface ToolInfo {
  name: string
  original?: string | undefined // Its name on its server, if it has another one here
  schema?: unknown
  sentences?: readonly string[] | undefined
  readOnly?: boolean | undefined
}

export type PlannedCall = { tool: string; args: Record<string, unknown> }

/** A step as it is kept in a conversation: plain data. */
type StoredStep = { block: string; slots: Record<string, unknown>; devices: string[] }

/** A question that is open: shall these be done, or to which of the options (any device if there are none)? */
type Pending =
  | { kind: 'confirm'; steps: StoredStep[] }
  | { kind: 'choose'; step: StoredStep; options: string[] }
type Named = { it: string[]; them: string[] }
type Last = Named & { steps: StoredStep[]; undo?: StoredStep[] | undefined; tool?: string | undefined }

/** What a conversation remembers. Plain data, kept beside the answer and never read back from its text. */
export type Dialogue = { pending?: Pending | undefined; last?: Last | undefined }

export interface Step {
  block: Block
  slots: Slots
  devices: readonly Device[]
  calls: readonly PlannedCall[] // Empty if the calls follow from what is read first
}

export interface Meaning {
  /** `act` changes something, `tell` only reads, `ask` asks back, `talk` calls nothing. */
  kind: 'act' | 'tell' | 'ask' | 'talk'
  steps: Step[]
  key: string // Equal for requests that mean the same
  /** The answer, if nothing is called; a question that it leaves open; devices that were only named. */
  text?: string
  pending?: Pending | undefined
  named?: string[] | undefined
  isMore?: boolean // "and …": what was spoken of before is still meant by "them"
  free: number
  isGuess: boolean
}

export interface Context {
  dialogue?: Dialogue | undefined
  area?: string | undefined // The room the request comes from
}

type Outcome =
  | { kind: 'steps'; steps: Step[]; isMore?: boolean }
  | { kind: 'ask' | 'refuse' | 'talk'; text: string; pending?: Pending; named?: string[] }

/** The ids of blocks for the sentences of a tool itself. */
const OWN = 'tool '
const GUESS_COST = 100
const MAX_TRIED = 12
const MAX_NAMED = 6
/** The best first; with free text only if there is nothing else. */
const RANKS = ['steps', 'ask', 'talk', 'refuse', 'free talk', 'free steps', 'free ask', 'free refuse']

/** What can be understood in one language with these tools in this home. */
export class Grammar {
  readonly language: Language
  readonly matcher: Matcher
  readonly blocks: readonly Block[]
  readonly home: Home | undefined
  readonly problems: string[] = []
  readonly tools = new Map<string, ToolInfo>()
  readonly #joints: Phrases<true>
  readonly #lists: Map<string, SlotList>
  readonly #known: ReadonlySet<string>

  constructor(language: Language, tools: readonly ToolInfo[], home?: Home, lists?: Map<string, SlotList>) {
    this.language = language
    this.home = home
    this.#lists = new Map(lists)
    for (const tool of tools) if (tool.original) this.tools.set(tool.original, tool)
    for (const tool of tools) this.tools.set(tool.name, tool)
    const own = tools.flatMap(tool => this.#ownBlock(tool))
    this.blocks = [...own, ...language.usable(new Set(this.tools.keys()))]
    this.matcher = new Matcher(this.blocks, language, (name, block) => this.#list(name, block))
    const { knownWords, joints } = language
    this.#joints = new Phrases(joints.map(text => [text, true] as const))
    this.#known = new Set([...this.matcher.words(), ...(home?.vocabulary() ?? []), ...knownWords, ...joints])
  }

  understand(text: string, context: Context = {}, isForLater = false): Meaning | undefined {
    const tokens = tokensOf(text)
    if (tokens.length === 0 || tokens.length > MAX_TOKENS) return undefined
    const request = { text, tokens: corrected(tokens, this.#known), ways: new Map(), lists: new Map() }
    const known = new Map<number, Match[]>()
    const total = ({ cost, block }: Match) => cost + (block.guess ? GUESS_COST : 0)
    const isMeant = ({ block }: Match) => !isForLater || block.dialogue !== 'later'
    const matchesAt = (start: number) => {
      const found = known.get(start) ?? this.matcher.match(request, start).filter(isMeant)
      known.set(start, found)
      return found.sort((one, other) => total(one) - total(other))
    }
    const whole = this.#whole(matchesAt(0), tokens.length, context)
    if (whole && (whole.kind !== 'talk' || whole.steps.length > 0) && whole.free === 0) return whole
    const several = this.#several(matchesAt, request.tokens, context)
    return several && (!whole || several.free <= whole.free) ? several : whole
  }

  #callsOf(block: Block, slots: Slots, devices: readonly Device[]): PlannedCall[] {
    const tool = this.tools.get(block.tool ?? '')
    if (!tool || block.adjust || (block.query && !(block.query.single && devices.length === 1))) return []
    const args = block.id.startsWith(OWN) ? { ...slots } : this.argsOf(tool, slots)
    const argument = this.language.home?.argument
    if (devices.length === 0 || argument === undefined) return [{ tool: tool.name, args }]
    return devices.map(({ id }) => ({ tool: tool.name, args: { [argument]: id, ...args } }))
  }

  argsOf({ schema }: ToolInfo, slots: Slots): Record<string, unknown> {
    const properties = propertiesOf(schema)
    const fitted = (name: string, value: unknown) => {
      const type = String(properties?.[name]?.type)
      if (!['number', 'integer'].includes(type) || Number.isNaN(Number(value))) return value
      return type === 'integer' ? Math.round(Number(value)) : Number(value)
    }
    const taken = Object.entries(slots).filter(([name]) => !properties || Object.hasOwn(properties, name))
    return Object.fromEntries(taken.map(([name, value]) => [name, fitted(name, value)]))
  }

  error(key: string, values: Values = {}): string {
    return render(this.language.errors[key] ?? this.language.errors.none ?? '', values)
  }

  #ownBlock({ name: tool, sentences: own = [] }: ToolInfo): Block[] {
    const sentences = own.flatMap(text => {
      try {
        return [parseTemplate(text)]
      } catch (error) {
        this.problems.push(`tool ${tool}: sentence '${text}': ${(error as Error).message}`)
        return []
      }
    })
    return sentences.length > 0 ? [{ id: OWN + tool, intent: OWN + tool, sentences, tool, slots: {} }] : []
  }

  /** What a slot takes: `name` any name, though only those of these kinds are expected aloud. */
  #list(name: string, block: Block | undefined): SlotList | undefined {
    const known = this.language.lists.get(name)
    if (known) return known
    if (block?.id.startsWith(OWN)) return this.#schemaList(block.tool, name)
    const key = name === 'name' ? `name ${block?.domain}` : name
    const list = this.#lists.get(key) ?? this.home?.list(name, block?.domain)
    if (list) this.#lists.set(key, list)
    return list
  }

  #schemaList(tool: string | undefined, name: string): SlotList {
    const { lists, numbers } = this.language
    const property = propertiesOf(this.tools.get(tool ?? '')?.schema)?.[name] ?? {}
    const { type, enum: values, minimum: from = 0, maximum: to = 100 } = property
    if (values) return valuesList(values.map(value => (typeof value === 'number' ? value : String(value))))
    if (type === 'boolean') return lists.get('boolean') ?? WILDCARD
    if (type !== 'number' && type !== 'integer') return WILDCARD
    const unit = { words: [...(lists.get('unit')?.words() ?? [])] }
    return makeList({ range: { from, to, type: to === 100 ? 'percentage' : 'number' }, unit }, numbers)
  }

  #whole(matches: readonly Match[], length: number, context: Context): Meaning | undefined {
    const whole = matches.filter(({ end }) => end === length).slice(0, MAX_TRIED * 4)
    const outcomes = whole.flatMap(match => {
      const outcome = this.#evaluate(match, context, false)
      const free = match.block.dialogue === 'later' ? 0 : match.free
      return outcome ? [{ outcome, free, isGuess: match.block.guess }] : []
    })
    const rank = ({ outcome, free }: (typeof outcomes)[number]) =>
      RANKS.indexOf(free > 0 ? `free ${outcome.kind}` : outcome.kind)
    const [best] = outcomes.sort((one, other) => rank(one) - rank(other))
    return best && this.#meaning(best.outcome, best.free, best.isGuess)
  }

  /** Several commands joined by "and" or a comma, if every one of them is understood. */
  #several(matchesAt: MatchesAt, tokens: readonly Token[], context: Context): Meaning | undefined {
    const jointsAt = (pos: number): number[] => {
      const words = pos > 0 ? this.#joints.at(tokens, pos).filter(({ cost }) => cost === 0) : []
      return [...words.map(({ end }) => end), ...(pos > 0 && tokens[pos]?.afterBreak ? [pos] : [])]
    }
    if (!tokens.some((_, at) => jointsAt(at).length > 0)) return undefined
    const bestAt = (start: number) => {
      const ending = matchesAt(start).filter(({ end }) => end === tokens.length || jointsAt(end).length > 0)
      return ending.sort((one, other) => one.free - other.free || other.end - one.end).slice(0, MAX_TRIED)
    }
    type Read = { steps: Step[]; free: number } | undefined
    const from = (start: number, steps: readonly Step[], within: Context): Read => {
      for (const match of bestAt(start)) {
        const outcome = this.#evaluate(match, within, true)
        const isAside = match.block.aside === true
        const next = outcome?.kind === 'steps' ? outcome.steps : undefined
        if (!next && !isAside) continue
        const all = [...steps, ...(next ?? [])]
        if (match.end === tokens.length) return { steps: all, free: match.free }
        const dialogue = next && next.length > 0 ? { last: lastOf(next) } : within.dialogue
        const place = match.slots.area ?? next?.[0]?.devices[0]?.area
        const area = isAside && typeof place === 'string' ? place : within.area
        for (const after of jointsAt(match.end)) {
          const rest = from(after, all, { ...within, dialogue, area })
          if (rest) return { ...rest, free: rest.free + match.free }
        }
      }
      return undefined
    }
    const found = from(0, [], context)
    if (!found || found.steps.length === 0) return undefined
    const commands = found.steps.filter(({ block }) => !block.aside)
    return this.#meaning({ kind: 'steps', steps: commands.length > 0 ? commands : found.steps }, found.free)
  }

  /** What a match means here and now; `undefined` if it does not apply. */
  #evaluate(match: Match, context: Context, isPart: boolean): Outcome | undefined {
    const { block, slots: said } = match
    const last = context.dialogue?.last
    const { dialogue, requires_context: required = {}, excludes_context: excluded } = block
    const { last: after, last_tool, last_slot } = required
    if (isPart && (after || last_tool || block.guess || block.unknown)) return undefined
    if (dialogue === 'aside') return isPart ? { kind: 'steps', steps: [] } : undefined
    if (dialogue === 'later') return this.#later(block, said, context)
    if (dialogue) return isPart ? undefined : this.#converse(block, said, context)
    const hasSlot = last_slot?.some(slot => last?.steps.some(step => Object.hasOwn(step.slots, slot)))
    const isAfter = (!after || this.#areOf(last?.it, after)) && !this.#areOf(last?.it, excluded?.last)
    if (!isAfter || (last_tool && last?.tool !== last_tool) || (last_slot && !hasSlot)) return undefined
    if (block.tool === undefined) return { kind: 'talk', text: this.#talk(block, said) }
    if (block.unknown) return this.#unknownDevice(block, said)
    const values = { slots: { ...block.slots, ...said }, last: last?.steps.at(-1)?.slots ?? {} }
    const fixed = Object.entries(block.slots).flatMap(([slot, value]) => {
      const filled = typeof value === 'string' && value.includes('{{') ? render(value, values) : value
      return filled === '' ? [] : [[slot, filled]]
    })
    const slots: Slots = { ...Object.fromEntries(fixed), ...said }
    const outcome = this.#targeted(block, slots, context)
    if (outcome.kind !== 'steps') return outcome
    for (const [name, usual] of this.language.ranges) {
      const { from, to } = this.home?.rangeOf(outcome.steps[0]?.devices[0], name) ?? usual
      if (Number(slots[name]) < from || Number(slots[name]) > to)
        return { kind: 'talk', text: this.error('range', { from, to }) }
    }
    if (!block.confirm) return outcome
    const names = this.#listed(outcome.steps[0]?.devices ?? [], 'and')
    const pending: Pending = { kind: 'confirm', steps: outcome.steps.map(storedOf) }
    return { kind: 'ask', text: this.#talk(block, { ...slots, names }), pending }
  }

  /** A command for later, "turn off the fan in ten minutes", or for a while: what it does is undone then. */
  #later(block: Block, { command, ...said }: Slots, context: Context): Outcome | undefined {
    const tool = this.tools.get(block.tool ?? '')
    const what = this.understand(String(command), context, true)
    if (!tool || what?.kind !== 'act' || what.free > 0) return undefined
    const now = block.undo ? what.steps : []
    const later = block.undo ? this.#restored(undoneBy(what.steps))?.steps : what.steps
    const calls = later?.flatMap(step => step.calls.map(call => ({ name: call.tool, args: call.args }))) ?? []
    const slots = { ...block.slots, ...said, calls }
    const planned = [{ tool: tool.name, args: this.argsOf(tool, slots) }]
    const step = { block, slots, devices: [], calls: planned }
    return calls.length > 0 ? { kind: 'steps', steps: [...now, step] } : undefined
  }

  /** Nothing is called so; "I meant …" may follow. */
  #unknownDevice(block: Block, said: Slots): Outcome {
    const rooms = listWords(this.home?.places ?? [], this.language.errors.and ?? '')
    const key = said.place === undefined ? 'unknown_device' : 'unknown_place'
    const step = { block: block.id, slots: { ...block.slots }, devices: [] }
    const text = this.error(key, { slots: said, rooms })
    return { kind: 'refuse', text, pending: { kind: 'choose', step, options: [] } }
  }

  #listed(devices: readonly Device[], joint: 'and' | 'or'): string {
    const ids = devices.slice(0, MAX_NAMED).map(({ id }) => id)
    return listWords(ids, this.language.errors[joint] ?? '')
  }

  /** The block for the devices that its slots mean; those of the same kind as `like` come first. */
  #targeted(block: Block, slots: Slots, context: Context, like: readonly string[] = []): Outcome {
    const { name: said, area, scope, except, ...others } = slots
    const without = isPhrase(except) ? except : undefined
    const name = isPhrase(said) ? this.home?.within(said, area, scope, without) : undefined
    if (!this.home || !(block.domain || block.query || name)) return this.#planned(block, slots, [])
    const { problem, text, devices } = name
      ? this.#resolve(name, block, context, like)
      : this.#defaultTarget(block, slots, context)
    if (!problem || (problem === 'which' && block.target === 'all'))
      return this.#planned(block, others, devices)
    const step = { block: block.id, slots: { ...others }, devices: [] }
    const options = problem === 'which' ? devices.map(({ id }) => id) : []
    const pending: Pending = { kind: 'choose', step, options }
    if (problem === 'which')
      return { kind: 'ask', text: this.error('which', { options: this.#listed(devices, 'or') }), pending }
    const any = name && this.home.resolve(name, { last: context.dialogue?.last, area: context.area })
    const cannot = !any?.problem && any?.devices.length === 1 ? any.devices[0]?.id : undefined
    const key = (cannot && 'cannot') ?? (name ? 'unknown' : 'nothing_there')
    const why = this.error(problem === 'here' ? 'here' : key, { text, name: cannot })
    return { kind: 'refuse', text: why, pending }
  }

  #resolve(phrase: NamePhrase, block: Block, context: Context, like: readonly string[]): Resolved {
    const home = this.home as Home
    const { dialogue, area } = context
    const options = { last: dialogue?.last, area, prefersArea: !block.query }
    const shared = Object.keys(home.words.kinds ?? {}).filter(kind => this.#areOf(like, [kind]))
    const { domain, or, room } = block
    const tries = [
      ...shared.slice(0, 1).map(kind => ({ kinds: [kind], roomKind: kind })),
      { kinds: domain, roomKind: room },
      ...(or ? [{ kinds: or, roomKind: or[0] }] : []),
    ].map(each => home.resolve(phrase, { ...options, ...each }))
    const found = tries.find(({ problem }) => problem !== 'unknown') ?? (tries.at(or ? -2 : -1) as Resolved)
    const isMeant = ({ kinds }: Device) => !domain || [...domain, ...(or ?? [])].some(kind => kinds.has(kind))
    return { ...found, devices: found.devices.filter(isMeant) }
  }

  /** The devices of a sentence that names none: those spoken of, those of the place, or all. */
  #defaultTarget(block: Block, slots: Slots, { dialogue, area }: Context): Resolved {
    const home = this.home as Home
    const { domain, or = [], room, target, requires_context: required, query } = block
    const isUsual = ({ kinds }: Device) => room === undefined || kinds.has(room)
    const it = required?.last ? (dialogue?.last?.it ?? []) : []
    if (this.#areOf(it, domain)) return { devices: it.flatMap(id => home.byId.get(id) ?? []), text: '' }
    const isHere = slots.scope === 'here' || (target === 'here' && slots.scope === undefined)
    const said = typeof slots.area === 'string' ? slots.area : undefined
    const place = said ?? (slots.scope === 'house' || (query && !isHere) ? undefined : area)
    if (isHere && place === undefined) return { problem: 'here', devices: [], text: '' }
    const places = said === undefined && !isHere ? [place, undefined] : [place]
    const tries = places.flatMap(each => [home.ofKind(domain, each).filter(isUsual), home.ofKind(or, each)])
    const devices = tries.find(each => each.length > 0) ?? []
    if (devices.length === 0) return { problem: 'unknown', devices, text: said ?? '' }
    const isClear = target !== 'one' || devices.length === 1
    return { devices, text: '', ...(!isClear && { problem: 'which' }) }
  }

  #planned(block: Block, slots: Slots, devices: readonly Device[]): Outcome {
    const plain = Object.fromEntries(Object.entries(slots).filter(([, value]) => !isPhrase(value)))
    const calls = this.#callsOf(block, plain, devices)
    return { kind: 'steps', steps: [{ block, slots: plain, devices, calls }] }
  }

  /** Answers, corrections and repetitions. */
  #converse(block: Block, said: Slots, context: Context): Outcome | undefined {
    const { pending, last } = context.dialogue ?? {}
    const { dialogue, slots } = block
    if (dialogue === 'yes' && pending?.kind === 'confirm') return this.#restored(pending.steps)
    if (dialogue === 'no' && pending) return { kind: 'talk', text: this.#talk(block, said) }
    if (dialogue === 'choose' && pending?.kind === 'choose') return this.#chosen(pending, said)
    if (dialogue === 'again' && last) return this.#restored(last.steps)
    if (dialogue === 'undo' && last)
      return last.undo ? this.#restored(last.undo) : { kind: 'refuse', text: this.error('undo') }
    if (pending || !isPhrase(said.name)) return undefined
    if (dialogue === 'mention') {
      const { problem, devices } = this.home?.resolve(said.name, { area: context.area }) ?? { devices: [] }
      const named = devices.map(({ id }) => id)
      const isOne = !problem && named.length === 1
      return isOne ? { kind: 'talk', text: this.error('mentioned', { name: named[0] }), named } : undefined
    }
    const [step, ...more] = last?.steps.flatMap(stored => this.#step(stored) ?? []) ?? []
    if (dialogue !== 'retarget' || !step || more.length > 0 || step.devices.length === 0) return undefined
    const { intent, tool } = step.block
    if (slots.question === true && !this.tools.get(tool ?? '')?.readOnly) return undefined
    const alike = this.blocks.filter(each => each.intent === intent && each.query && !each.requires_context)
    const about = { ...step.slots, name: said.name }
    const outcomes = [step.block, ...alike].map(each => this.#targeted(each, about, context, last?.it))
    const found = outcomes.find(({ kind }) => kind === 'steps') ?? outcomes[0]
    return found?.kind === 'steps' ? { ...found, isMore: slots.more === true } : found
  }

  #chosen({ step, options }: { step: StoredStep; options: string[] }, said: Slots): Outcome | undefined {
    const { ordinal, name, all } = said
    const block = this.blocks.find(({ id }) => id === step.block)
    const limits = options.length > 0 ? { among: options } : { kinds: block?.domain, roomKind: block?.room }
    const resolved = isPhrase(name) ? this.home?.resolve(name, limits) : undefined
    const named = resolved && !resolved.problem ? resolved.devices.map(({ id }) => id) : []
    const counted = typeof ordinal === 'number' ? options.slice(ordinal - 1, ordinal) : named
    const devices = (all === true ? options : counted).flatMap(id => this.home?.byId.get(id) ?? [])
    return block && devices.length > 0 ? this.#planned(block, step.slots, devices) : undefined
  }

  #step({ block: wanted, slots, devices: ids }: StoredStep): Step | undefined {
    const block = this.blocks.find(({ id }) => id === wanted)
    const devices = ids.flatMap(id => this.home?.byId.get(id) ?? [])
    return block && { block, slots, devices, calls: this.#callsOf(block, slots, devices) }
  }

  #restored(stored: readonly StoredStep[] = []): { kind: 'steps'; steps: Step[] } | undefined {
    const steps = stored.flatMap(each => this.#step(each) ?? [])
    return steps.length > 0 ? { kind: 'steps', steps } : undefined
  }

  /** Whether there are some, and all are of these kinds. */
  #areOf(ids: readonly string[] = [], kinds: readonly string[] = []): boolean {
    return ids.length > 0 && ids.every(id => kinds.some(kind => this.home?.byId.get(id)?.kinds.has(kind)))
  }

  #talk(block: Block, said: Slots): string {
    const responses = this.language.responses[block.intent] ?? {}
    return render(responses[block.response ?? 'default'] ?? '', { slots: { ...block.slots, ...said } })
  }

  #meaning(outcome: Outcome, free: number, isGuess = false): Meaning {
    if (outcome.kind !== 'steps') {
      const kind = outcome.kind === 'ask' ? 'ask' : 'talk'
      return { ...outcome, kind, free, isGuess, steps: [], key: outcome.text }
    }
    const { steps, isMore = false } = outcome
    const keyOf = ({ block, slots, devices, calls }: Step) =>
      JSON.stringify(calls.length > 0 ? calls : [block.intent, slots, devices.map(({ id }) => id)])
    const isChange = ({ block }: Step) =>
      !block.query && (block.adjust || !this.tools.get(block.tool ?? '')?.readOnly)
    const kind = steps.some(isChange) ? 'act' : 'tell'
    return { free, isGuess, kind, steps, key: steps.map(keyOf).join(' + '), isMore }
  }
}

/** Whether its sentences can be said first, and call something. */
export function isFirst({ tool, dialogue, requires_context, guess, unknown }: Block): boolean {
  const { last, last_tool } = requires_context ?? {}
  return tool !== undefined && !(dialogue || last || last_tool || guess || unknown)
}

/** What "it", "them" and "again" mean after these steps. */
export function lastOf(steps: readonly Step[], before?: Last, isMore = false): Last {
  const stored = steps.map(storedOf)
  const named = [...new Set(stored.flatMap(({ devices }) => devices))]
  const it = named.length > 0 ? named : (before?.it ?? [])
  const them = isMore || named.length === 0 ? [...new Set([...(before?.them ?? []), ...named])] : named
  const { tool } = steps.at(-1)?.block ?? {}
  return { steps: stored, it, them, tool, undo: undoneBy(steps, 1) }
}

/** The steps that undo these, if all can be undone. Of several devices, some may have been so before. */
function undoneBy(steps: readonly Step[], mostDevices = Infinity): StoredStep[] | undefined {
  if (!steps.every(({ block, devices }) => block.undo && devices.length <= mostDevices)) return undefined
  return steps.map(step => ({ ...storedOf(step), slots: { ...step.slots, ...step.block.undo } }))
}

function storedOf({ block, slots, devices }: Step): StoredStep {
  return { block: block.id, slots: { ...slots }, devices: devices.map(({ id }) => id) }
}

function isPhrase(value: unknown): value is NamePhrase {
  return typeof value === 'object' && value !== null && 'items' in value && 'key' in value
}

function propertiesOf(schema: unknown): Record<string, Property> | undefined {
  return (Object(schema) as { properties?: Record<string, Property> }).properties
}
