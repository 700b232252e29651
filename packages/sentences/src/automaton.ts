import { type SlotList, type SlotMatch, valuesList } from './lists.ts'
import { CORRECTION_COST, Phrases } from './numbers.ts'
import type { Node } from './template.ts'
import type { Token } from './text.ts'

/** A captured slot, linked to the ones before it. */
interface Capture {
  readonly slot: string
  readonly value: unknown
  readonly before: Capture | undefined
  /** Equal for equal captures. */
  readonly key: string
}

type Arc =
  | { readonly kind: 'none'; readonly to: number }
  | { readonly kind: 'list'; readonly list: SlotList; readonly slot: string; readonly to: number }
  | { readonly kind: 'fixed'; readonly slot: string; readonly value: unknown; readonly to: number }
  | { readonly kind: 'rule'; readonly name: string; readonly to: number }

interface State {
  readonly words: Map<string, number[]>
  readonly arcs: Arc[]
}

/** A sentence that accounts for the words from `start` to `end`. */
export interface Match<Meaning> {
  meaning: Meaning
  start: number
  end: number
  slots: Readonly<Record<string, unknown>>
  /** Free words, skipped words and corrections: the less, the better. */
  cost: number
  free: number
}

interface Way {
  state: number
  pos: number
  captures: Capture | undefined
  cost: number
  free: number
  /** The last thing taken was free text: what follows is not skipped. */
  inText: boolean
}

const FREE_COST = 10
const SKIP_COST = 0.1
/** Belongs to no free text. */
const QUESTION_MARK = '?'
const MAX_WAYS = 20_000

/** What a request is matched with. */
export interface Request {
  readonly text: string
  readonly tokens: readonly Token[]
}

/** All templates as one network of words; rules are parts of it that several templates go through. */
export class Automaton<Meaning> {
  readonly #states: State[] = []
  readonly #meanings = new Map<number, Meaning>()
  readonly #rules = new Map<string, { start: number; end: number }>()
  readonly #lists: (name: string, meaning: Meaning | undefined) => SlotList | undefined
  readonly #skip: Phrases<boolean>
  readonly #start: number
  #used = new Set<SlotList>()

  constructor(options: {
    sentences: Iterable<readonly [Node, Meaning]>
    rules: ReadonlyMap<string, Node>
    lists: (name: string, meaning: Meaning | undefined) => SlotList | undefined
    skipWords: Iterable<string>
  }) {
    this.#lists = options.lists
    this.#skip = new Phrases([...options.skipWords].map(words => [words, words.endsWith(',')] as const))
    for (const [name, node] of options.rules) {
      const start = this.#state()
      this.#rules.set(name, { start, end: this.#add(node, start, undefined) })
    }
    this.#start = this.#state()
    for (const [node, meaning] of options.sentences)
      this.#meanings.set(this.#add(node, this.#start, meaning), meaning)
  }

  /** Every word of the sentences, their rules and lists. */
  *words(): Generator<string> {
    for (const { words } of this.#states) yield* words.keys()
    for (const list of this.#used) yield* list.words()
    yield* this.#skip.words()
  }

  /** All sentences that start at a token, wherever they end. */
  match(request: Request, start = 0): Match<Meaning>[] {
    return this.#walk(this.#start, start, new Walk(request, this.#skip)).flatMap(way => {
      const meaning = this.#meanings.get(way.state)
      if (meaning === undefined) return []
      const { pos: end, cost, free } = way
      return [{ meaning, start, end, slots: slotsOf(way.captures), cost: cost + free * FREE_COST, free }]
    })
  }

  /** For walking the network elsewhere. */
  get network() {
    return {
      states: this.#states,
      start: this.#start,
      meanings: this.#meanings,
      rules: this.#rules,
      skip: this.#skip,
    }
  }

  #state(): number {
    return this.#states.push({ words: new Map(), arcs: [] }) - 1
  }

  /** Adds a node after a state; returns the state after it. */
  #add(node: Node, from: number, meaning: Meaning | undefined): number {
    const state = this.#states[from] as State
    if (node.kind === 'sequence')
      return node.items.reduce((at, item) => this.#add(item, at, meaning), this.#step(from))
    const to = this.#state()
    if (node.kind === 'word') state.words.set(node.key, [...(state.words.get(node.key) ?? []), to])
    else if (node.kind === 'choice')
      for (const option of node.options)
        this.#arcs(this.#add(option, from, meaning)).push({ kind: 'none', to })
    else if (node.kind === 'rule') state.arcs.push({ kind: 'rule', name: node.name, to })
    else if (node.kind === 'fixed') state.arcs.push({ kind: 'fixed', slot: node.slot, value: node.value, to })
    else {
      const list = node.kind === 'values' ? valuesList(node.values) : this.#lists(node.list, meaning)
      if (list) {
        this.#used.add(list)
        state.arcs.push({ kind: 'list', list, slot: node.slot, to })
      }
    }
    return to
  }

  #step(from: number): number {
    const to = this.#state()
    this.#arcs(from).push({ kind: 'none', to })
    return to
  }

  #arcs(state: number): Arc[] {
    return (this.#states[state] as State).arcs
  }

  /** All ways from a state to where nothing follows. */
  #walk(start: number, from: number, walk: Walk): Way[] {
    const key = `${start} ${from}`
    const known = walk.known.get(key)
    if (known) return known
    const ways: Way[] = [{ state: start, pos: from, captures: undefined, cost: 0, free: 0, inText: false }]
    const seen = new Map<string, number>()
    const done: Way[] = []
    const push = (way: Way) => {
      const id = `${way.state} ${way.pos} ${way.inText} ${way.captures?.key ?? ''}`
      const total = way.cost + way.free * FREE_COST
      if ((seen.get(id) ?? Infinity) <= total || ways.length > MAX_WAYS) return
      seen.set(id, total)
      ways.push(way)
    }
    for (let at = 0; at < ways.length; at++) {
      const way = ways[at] as Way
      const { state, pos, inText } = way
      const { words, arcs } = this.#states[state] as State
      if (words.size === 0 && arcs.length === 0) done.push(way)
      const token = walk.request.tokens[pos]
      if (token && words.size > 0) {
        for (const to of words.get(token.key) ?? []) push({ ...way, state: to, pos: pos + 1, inText: false })
        for (const meant of token.corrections)
          for (const to of words.get(meant) ?? [])
            push({ ...way, state: to, pos: pos + 1, cost: way.cost + CORRECTION_COST, inText: false })
      }
      if (token && (!inText || token.key === QUESTION_MARK))
        for (const end of walk.skips(pos))
          push({ ...way, pos: end, cost: way.cost + SKIP_COST * (end - pos) })
      for (const arc of arcs) this.#follow(arc, way, push, walk)
    }
    const best = bestOf(done)
    walk.known.set(key, best)
    return best
  }

  #follow(arc: Arc, way: Way, push: (way: Way) => void, walk: Walk): void {
    const { to } = arc
    if (arc.kind === 'none') push({ ...way, state: to })
    else if (arc.kind === 'fixed')
      push({ ...way, state: to, captures: captured(arc.slot, arc.value, way.captures) })
    else if (arc.kind === 'list')
      for (const { end, value, cost, free = 0 } of walk.listed(arc.list, way.pos))
        push({
          state: to,
          pos: end,
          captures: captured(arc.slot, value, way.captures),
          cost: way.cost + cost,
          free: way.free + free,
          inText: free > 0,
        })
    else {
      const rule = this.#rules.get(arc.name)
      if (!rule) return
      for (const inner of this.#walk(rule.start, way.pos, walk))
        if (inner.state === rule.end)
          push({
            state: to,
            pos: inner.pos,
            captures: appended(way.captures, inner.captures),
            cost: way.cost + inner.cost,
            free: way.free + inner.free,
            inText: inner.pos === way.pos ? way.inText : inner.inText,
          })
    }
  }
}

/** What is found once for a request and used on many ways. */
class Walk {
  readonly request: Request
  readonly known = new Map<string, Way[]>()
  readonly #skip: Phrases<boolean>
  readonly #skips = new Map<number, number[]>()
  readonly #lists = new Map<SlotList['at'], Map<number, SlotMatch[]>>()

  constructor(request: Request, skip: Phrases<boolean>) {
    this.request = request
    this.#skip = skip
  }

  /** Where words that are skipped end. "no," is skipped only in front of a comma. */
  skips(pos: number): number[] {
    const known = this.#skips.get(pos)
    if (known) return known
    const { tokens } = this.request
    const found = this.#skip
      .at(tokens, pos)
      .filter(({ cost, end, value }) => cost === 0 && (!value || tokens[end]?.afterBreak))
    const ends = found.map(({ end }) => end)
    this.#skips.set(pos, ends)
    return ends
  }

  listed(list: SlotList, pos: number): SlotMatch[] {
    const byPos = this.#lists.get(list.at) ?? new Map<number, SlotMatch[]>()
    this.#lists.set(list.at, byPos)
    const found = byPos.get(pos) ?? list.at(this.request.tokens, pos, this.request.text)
    byPos.set(pos, found)
    return found
  }
}

function bestOf(ways: readonly Way[]): Way[] {
  const best = new Map<string, Way>()
  for (const way of ways) {
    const id = `${way.state} ${way.pos} ${way.captures?.key ?? ''}`
    const known = best.get(id)
    if (!known || way.cost + way.free * FREE_COST < known.cost + known.free * FREE_COST) best.set(id, way)
  }
  return [...best.values()]
}

function captured(slot: string, value: unknown, before: Capture | undefined): Capture {
  const said = typeof value === 'object' && value !== null && 'key' in value ? value.key : value
  return { slot, value, before, key: `${before?.key ?? ''} ${slot}=${said}` }
}

function appended(before: Capture | undefined, after: Capture | undefined): Capture | undefined {
  return after ? captured(after.slot, after.value, appended(before, after.before)) : before
}

function slotsOf(capture: Capture | undefined): Record<string, unknown> {
  const slots: Record<string, unknown> = {}
  for (let at = capture; at; at = at.before) if (!Object.hasOwn(slots, at.slot)) slots[at.slot] = at.value
  return slots
}
