import { type SlotList, type SlotMatch, valuesList } from './lists.ts'
import { CORRECTION_COST, Phrases } from './numbers.ts'
import type { Node } from './template.ts'
import type { Token } from './text.ts'

/** A template whose lists are known. */
export type Part =
  | { readonly kind: 'word'; readonly key: string }
  | { readonly kind: 'sequence'; readonly items: readonly Part[] }
  | { readonly kind: 'choice'; readonly options: readonly Part[] }
  | { readonly kind: 'rule'; readonly name: string }
  | { readonly kind: 'slot'; readonly slot: string; readonly list: SlotList }
  | { readonly kind: 'fixed'; readonly slot: string; readonly value: unknown }

/** A captured slot, linked to the ones before it. */
interface Capture {
  readonly slot: string
  readonly value: unknown
  readonly before: Capture | undefined
  /** Equal for equal captures. */
  readonly key: string
}

/** A way through a part of a sentence. */
interface Way {
  readonly end: number
  readonly captures?: Capture | undefined
  /** Skipped words and corrections. */
  readonly cost: number
  readonly free: number
  /** The last thing taken was free text: what follows is not skipped. */
  readonly inText: boolean
}

/** A sentence that accounts for the words from `start` to `end`. */
export interface Match<Meaning> {
  meaning: Meaning
  end: number
  slots: Readonly<Record<string, unknown>>
  /** Free words, skipped words and corrections: the less, the better. */
  cost: number
  free: number
}

/** What a request is matched with, and what was found out about it. */
export class Request {
  readonly text: string
  readonly tokens: readonly Token[]
  readonly known = new Map<string, Way[]>()
  readonly lists = new Map<SlotList['at'], Map<number, SlotMatch[]>>()

  constructor(text: string, tokens: readonly Token[]) {
    this.text = text
    this.tokens = tokens
  }
}

interface Sentence<Meaning> {
  part: Part
  meaning: Meaning
  /** Of each of these sets a request has to have a word. */
  needs: readonly ReadonlySet<string>[]
}

interface MatcherOptions<Meaning> {
  sentences: Iterable<readonly [Node, Meaning]>
  rules: ReadonlyMap<string, Node>
  lists: (name: string, meaning: Meaning | undefined) => SlotList | undefined
  skipWords: Iterable<string>
}

const FREE_COST = 10
const SKIP_COST = 0.1
/** Belongs to no free text. */
const QUESTION_MARK = '?'

/** All templates, compiled to one network of words; rules are parts of it that several templates go through. */
export class Matcher<Meaning> {
  readonly sentences: readonly Sentence<Meaning>[]
  readonly rules: ReadonlyMap<string, Part>
  readonly #skip: Phrases<boolean>

  constructor({ sentences, rules, lists, skipWords }: MatcherOptions<Meaning>) {
    this.#skip = new Phrases([...skipWords].map(words => [words, words.endsWith(',')] as const))
    const bind = (node: Node, meaning: Meaning | undefined): Part => {
      if (node.kind === 'sequence') return { ...node, items: node.items.map(item => bind(item, meaning)) }
      if (node.kind === 'choice') return { ...node, options: node.options.map(each => bind(each, meaning)) }
      if (node.kind !== 'list' && node.kind !== 'values') return node
      const list = node.kind === 'values' ? valuesList(node.values as never) : lists(node.list, meaning)
      return list ? { kind: 'slot', slot: node.slot, list } : { kind: 'choice', options: [] }
    }
    this.rules = new Map([...rules].map(([name, node]) => [name, bind(node, undefined)]))
    this.sentences = [...sentences].map(([node, meaning]) => {
      const part = bind(node, meaning)
      return { part, meaning, needs: this.#needs(part) }
    })
  }

  /** Every word of the sentences, their rules and lists. */
  *words(): Generator<string> {
    const lists = new Set<SlotList>()
    const inside = function* (part: Part): Generator<string> {
      if (part.kind === 'word') yield part.key
      else if (part.kind === 'sequence') for (const each of part.items) yield* inside(each)
      else if (part.kind === 'choice') for (const each of part.options) yield* inside(each)
      else if (part.kind === 'slot') lists.add(part.list)
    }
    for (const part of [...this.rules.values(), ...this.sentences.map(each => each.part)]) yield* inside(part)
    for (const list of lists) yield* list.words()
    yield* this.#skip.words()
  }

  /** All sentences that start at a token, wherever they end. */
  match(request: Request, start = 0): Match<Meaning>[] {
    const said = [
      ...new Set(request.tokens.slice(start).flatMap(({ key, corrections }) => [key, ...corrections])),
    ]
    const first: Way = { end: start, cost: 0, free: 0, inText: false }
    const isSaid = (words: ReadonlySet<string>) => said.some(word => words.has(word))
    const possible = this.sentences.filter(({ needs }) => needs.every(isSaid))
    return possible.flatMap(({ part, meaning }) =>
      this.#walk(part, [first], request)
        .flatMap(way => this.#skipped(way, request))
        .map(({ end, captures, cost, free }) => {
          return { meaning, end, slots: slotsOf(captures), cost: cost + free * FREE_COST, free }
        }),
    )
  }

  #needs(part: Part): ReadonlySet<string>[] {
    if (part.kind === 'word') return [new Set([part.key])]
    if (part.kind === 'sequence') return part.items.flatMap(item => this.#needs(item))
    if (part.kind === 'rule') return this.#needs(this.rules.get(part.name) ?? { kind: 'choice', options: [] })
    if (part.kind !== 'choice') return []
    const each = part.options.map(
      option => this.#needs(option).sort((one, other) => one.size - other.size)[0],
    )
    return each.every(words => words !== undefined) ? [new Set(each.flatMap(words => [...words]))] : []
  }

  /** The ways after a part, for the ways before it. */
  #walk(part: Part, ways: readonly Way[], request: Request): readonly Way[] {
    if (ways.length === 0 || (part.kind === 'sequence' && part.items.length === 0)) return ways
    if (part.kind === 'sequence')
      return part.items.reduce((before, item) => this.#walk(item, before, request), ways)
    if (part.kind === 'choice') return best(part.options.flatMap(option => this.#walk(option, ways, request)))
    if (part.kind === 'fixed')
      return ways.map(way => ({ ...way, captures: captured(part.slot, part.value, way.captures) }))
    if (part.kind === 'rule') return best(ways.flatMap(way => this.#through(part.name, way, request)))
    const starts = ways.flatMap(way => this.#skipped(way, request))
    if (part.kind === 'word')
      return starts.flatMap(way => {
        const token = request.tokens[way.end]
        const isMeant = token?.corrections.includes(part.key)
        if (token?.key !== part.key && !isMeant) return []
        return [{ ...way, end: way.end + 1, cost: way.cost + (isMeant ? CORRECTION_COST : 0), inText: false }]
      })
    return best(
      starts.flatMap(way =>
        listed(part.list, way.end, request).map(({ end, value, cost, free = 0 }) => ({
          end,
          captures: captured(part.slot, value, way.captures),
          cost: way.cost + cost,
          free: way.free + free,
          inText: free > 0,
        })),
      ),
    )
  }

  /** A rule is walked once for every place where it starts. */
  #through(name: string, way: Way, request: Request): Way[] {
    const { end: start, inText } = way
    const key = `${name} ${start} ${inText}`
    const rule = this.rules.get(name)
    if (!rule) return []
    const inner = request.known.get(key) ?? [
      ...this.#walk(rule, [{ end: start, cost: 0, free: 0, inText }], request),
    ]
    request.known.set(key, inner)
    return inner.map(each => ({
      ...each,
      captures: appended(way.captures, each.captures),
      cost: way.cost + each.cost,
      free: way.free + each.free,
    }))
  }

  /** The way itself, and those that skip words after it. "no," is skipped only in front of a comma. */
  #skipped(way: Way, request: Request): Way[] {
    const { tokens } = request
    const { end: from, inText } = way
    const skips = inText && tokens[from]?.key !== QUESTION_MARK ? [] : this.#skip.at(tokens, from)
    const next = skips.filter(({ cost, end, value }) => cost === 0 && (!value || tokens[end]?.afterBreak))
    const cost = (end: number) => way.cost + SKIP_COST * (end - from)
    return [way, ...next.flatMap(({ end }) => this.#skipped({ ...way, end, cost: cost(end) }, request))]
  }
}

function listed(list: SlotList, pos: number, { lists, tokens, text }: Request): SlotMatch[] {
  const byPos = lists.get(list.at) ?? new Map<number, SlotMatch[]>()
  const found = byPos.get(pos) ?? list.at(tokens, pos, text)
  lists.set(list.at, byPos.set(pos, found))
  return found
}

/** Of ways that come to the same, the cheapest. */
function best(ways: readonly Way[]): readonly Way[] {
  if (ways.length < 2) return ways
  const byId = new Map<string, Way>()
  for (const way of ways) {
    const id = `${way.end} ${way.inText} ${way.captures?.key ?? ''}`
    const known = byId.get(id)
    if (!known || way.cost + way.free * FREE_COST < known.cost + known.free * FREE_COST) byId.set(id, way)
  }
  return [...byId.values()]
}

function captured(slot: string, value: unknown, before: Capture | undefined): Capture {
  const said = typeof value === 'object' && value !== null && 'key' in value ? value.key : value
  return { slot, value, before, key: `${before?.key ?? ''} ${slot}=${said}` }
}

function appended(before: Capture | undefined, after: Capture | undefined): Capture | undefined {
  return after ? captured(after.slot, after.value, appended(before, after.before)) : before
}

/** What was captured last stands. */
function slotsOf(capture: Capture | undefined): Record<string, unknown> {
  return capture ? { ...slotsOf(capture.before), [capture.slot]: capture.value } : {}
}
