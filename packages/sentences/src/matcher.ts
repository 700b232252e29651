import type { Block, Language } from './language.ts'
import { type SlotList, type SlotMatch, valuesList } from './lists.ts'
import { CORRECTION_COST, Phrases } from './numbers.ts'
import { type Node, nodesOf } from './template.ts'
import type { Token } from './text.ts'

interface Way {
  readonly end: number
  readonly slots: Readonly<Record<string, unknown>>
  readonly key: string // Equal for equal slots
  readonly cost: number // Free words, skipped words and corrections: the less, the better
  readonly free: number
  readonly inText: boolean // The last thing taken was free text: what follows is not skipped
}

/** A sentence of a block that accounts for the words up to `end`. */
export interface Match extends Pick<Way, 'end' | 'slots' | 'cost' | 'free'> {
  block: Block
}

export interface Request {
  text: string
  tokens: readonly Token[]
  ways: Map<string, readonly Way[]>
  lists: Map<SlotList['at'], Map<number, SlotMatch[]>>
}

const FREE_COST = 10
const SKIP_COST = 0.1
const QUESTION_MARK = '?'
const NEVER: Node = { kind: 'choice', items: [] }

/** All templates as one network of words; rules are parts of it that several templates go through. */
export class Matcher {
  readonly sentences: readonly { node: Node; block: Block }[]
  readonly #language: Language
  readonly #skip: Phrases<boolean>
  readonly lists = new Map<Node, SlotList | undefined>()

  constructor(
    blocks: readonly Block[],
    language: Language,
    listFor: (name: string, block: Block | undefined) => SlotList | undefined,
  ) {
    this.#language = language
    this.#skip = new Phrases(language.skipWords.map(words => [words, words.endsWith(',')] as const))
    this.sentences = blocks.flatMap(block => block.sentences.map(node => ({ node, block })))
    const rules = [...language.rules.values()].map(node => ({ node, block: undefined }))
    for (const { node, block } of [...this.sentences, ...rules])
      for (const each of nodesOf(node))
        if (each.kind === 'list')
          this.lists.set(each, each.values ? valuesList(each.values) : listFor(each.list, block))
  }

  rule(name: string): Node {
    return this.#language.rules.get(name) ?? NEVER
  }

  words(): string[] {
    const roots = [...this.#language.rules.values(), ...this.sentences.map(({ node }) => node)]
    const nodes = roots.flatMap(node => [...nodesOf(node)])
    const lists = [...new Set(this.lists.values())].flatMap(list => [...(list?.words() ?? [])])
    return [...nodes.flatMap(node => (node.kind === 'word' ? node.key : [])), ...lists, ...this.#skip.words()]
  }

  match(request: Request, start = 0): Match[] {
    const first = { end: start, slots: {}, key: '', cost: 0, free: 0, inText: false }
    return this.sentences.flatMap(({ node, block }) => {
      const ways = this.#walk(node, [first], request).flatMap(way => this.#skipped(way, request))
      return ways.map(({ end, slots, cost, free }) => ({ block, end, slots, cost, free }))
    })
  }

  /** The ways after a node, for the ways before it. */
  #walk(node: Node, ways: readonly Way[], request: Request): readonly Way[] {
    if (ways.length === 0) return ways
    if (node.kind === 'sequence')
      return node.items.reduce((before, item) => this.#walk(item, before, request), ways)
    if (node.kind === 'choice') return best(node.items.flatMap(item => this.#walk(item, ways, request)))
    if (node.kind === 'fixed') return ways.map(way => withSlot(way, node.slot, node.value))
    if (node.kind === 'rule') return best(ways.flatMap(way => this.#through(node.name, way, request)))
    const starts = ways.flatMap(way => this.#skipped(way, request))
    if (node.kind === 'list') {
      const list = this.lists.get(node)
      const from = (way: Way) => listed(list, way.end, request).map(found => taken(way, node.slot, found))
      return best(starts.flatMap(from))
    }
    return starts.flatMap(way => {
      const token = request.tokens[way.end]
      const isMeant = token?.corrections.includes(node.key)
      if (token?.key !== node.key && !isMeant) return []
      return [{ ...way, end: way.end + 1, cost: way.cost + (isMeant ? CORRECTION_COST : 0), inText: false }]
    })
  }

  /** A rule is walked once for every place where it starts. */
  #through(name: string, way: Way, request: Request): Way[] {
    const start = { ...way, slots: {}, key: '', cost: 0, free: 0 }
    const id = `${name} ${way.end} ${way.inText}`
    const inner = request.ways.get(id) ?? this.#walk(this.rule(name), [start], request)
    request.ways.set(id, inner)
    return inner.map(({ slots, key, cost, free, ...each }) => {
      const sums = { cost: way.cost + cost, free: way.free + free }
      return { ...each, ...sums, slots: { ...way.slots, ...slots }, key: way.key + key }
    })
  }

  /** The way itself, and those that skip words after it. "no," is skipped only in front of a comma. */
  #skipped(way: Way, request: Request): Way[] {
    const { tokens } = request
    const isOver = way.inText && tokens[way.end]?.key !== QUESTION_MARK
    const skips = isOver ? [] : this.#skip.at(tokens, way.end)
    const next = skips.filter(({ cost, end, value }) => cost === 0 && (!value || tokens[end]?.afterBreak))
    const after = (end: number) => ({ ...way, end, cost: way.cost + SKIP_COST * (end - way.end) })
    return [way, ...next.flatMap(({ end }) => this.#skipped(after(end), request))]
  }
}

function listed(list: SlotList | undefined, pos: number, { lists, tokens, text }: Request): SlotMatch[] {
  if (!list) return []
  const byPos = lists.get(list.at) ?? new Map<number, SlotMatch[]>()
  const found = byPos.get(pos) ?? list.at(tokens, pos, text)
  lists.set(list.at, byPos.set(pos, found))
  return found
}

function best(ways: readonly Way[]): readonly Way[] {
  if (ways.length < 2) return ways
  const byId = new Map<string, Way>()
  for (const way of ways) {
    const id = `${way.end} ${way.inText} ${way.key}`
    if (way.cost < (byId.get(id)?.cost ?? Infinity)) byId.set(id, way)
  }
  return [...byId.values()]
}

function taken(way: Way, slot: string, { end, value, cost, free = 0 }: SlotMatch): Way {
  const costs = { cost: way.cost + cost + free * FREE_COST, free: way.free + free }
  return { ...withSlot(way, slot, value), ...costs, end, inText: free > 0 }
}

function withSlot(way: Way, slot: string, value: unknown): Way {
  const id = typeof value === 'object' && value !== null && 'key' in value ? value.key : value
  return { ...way, slots: { ...way.slots, [slot]: value }, key: `${way.key} ${slot}=${id}` }
}
