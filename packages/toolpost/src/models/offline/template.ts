/*
 * Sentences that call a tool. The whole grammar:
 *
 *   turn                  the word itself; case and small misspellings do not matter
 *   [the]                 optional words; may contain anything below, including slots
 *   (notes|documents)     one of these
 *   (please;turn it on)   all of these, in any order
 *   <turn>                the rule of that name
 *   {deviceName}          an argument: whatever the tool's schema accepts (an enum value, a number in digits or words,
 *                         yes or no, else any words)
 *   {action:on|off}       an argument with one of these values; `{action:open=on|close=off}` says them in other words
 *   {drink@drinks}        an argument from the list of that name
 *   {action=get}          an argument with this value; matches no words
 *   {expression#math}     an argument that is a calculation and nothing else
 *   {amount#number}       an argument that is a number, whatever the schema says; `#percent` one with a percent sign,
 *                         `#degrees` one of two digits
 *
 * `<turn> {action:on|off} [the] {deviceName}` matches "Turn on the living room light".
 */

/** A value and how it is said. */
export interface Choice {
  say: string
  value: string
}

export type SlotNode = {
  kind: 'slot'
  name: string
  choices?: Choice[]
  list?: string
  isCalculation?: boolean
  isNumber?: boolean
  isPercent?: boolean
  isDegrees?: boolean
}

export type TemplateNode =
  | { kind: 'word'; key: string }
  | { kind: 'group'; branches: TemplateNode[][]; isOptional: boolean }
  | { kind: 'rule'; name: string }
  | SlotNode
  | { kind: 'fixed'; name: string; value: string }

/** A sentence that does not follow the grammar. */
export class TemplateError extends Error {
  override name = 'TemplateError'
}

const TOKEN = /\{[^{}]*\}|<[^<>]*>|[[\]()|;]|[^\s[\](){}|;<>]+|[{}<>]/gu
/** Names in ASCII first: a class of all letters takes long to compile. */
const PLAIN_SLOT = /^\{(\w+)(?:([:=#@])(.*))?\}$/s
const PLAIN_RULE = /^<(\w+)>$/
const SLOT = /^\{\s*([\p{L}\p{N}_$.-]+)\s*(?:([:=#@])(.*))?\}$/su
const RULE = /^<\s*([\p{L}\p{N}_-]+)\s*>$/u
const MAX_LENGTH = 1_000
/** How deeply brackets may nest: each level costs a stack frame, and nobody needs this many. */
const MAX_DEPTH = 20
/** More parts would have too many permutations. */
const MAX_ANY_ORDER = 4

/** Parses a sentence. Throws a TemplateError that says what is wrong, and where. */
export function parseTemplate(text: string): TemplateNode[] {
  return parse(text, reader => [reader.readBranch(0)]).flat()
}

/** Parses a rule: alternatives, as in brackets. Throws as parseTemplate does. */
export function parseRule(text: string): TemplateNode[] {
  return [{ kind: 'group', branches: parse(text, reader => reader.readAlternatives()), isOptional: false }]
}

function parse(text: string, read: (reader: Reader) => TemplateNode[][]): TemplateNode[][] {
  if (text.length > MAX_LENGTH) throw new TemplateError(`is longer than ${MAX_LENGTH} characters`)
  const reader = new Reader(text)
  const branches = read(reader)
  if (reader.next !== undefined)
    throw new TemplateError(`has an unmatched '${reader.next}', at character ${reader.place}`)
  if (branches.every(branch => branch.length === 0)) throw new TemplateError('has no words')
  return branches
}

class Reader {
  readonly #text: string
  readonly #tokens: readonly string[]
  #at = 0

  constructor(text: string) {
    this.#text = text
    this.#tokens = text.match(TOKEN) ?? []
  }

  get next(): string | undefined {
    return this.#tokens[this.#at]
  }

  /** The 1-based position of the next token, for error messages. */
  get place(): number {
    return this.placeOf(this.#at)
  }

  placeOf(token: number): number {
    return ([...this.#text.matchAll(TOKEN)][token]?.index ?? 0) + 1
  }

  readAlternatives(): TemplateNode[][] {
    const branches = [this.readBranch(0)]
    while (this.next === '|') {
      this.#at++
      branches.push(this.readBranch(0))
    }
    return branches
  }

  readBranch(depth: number): TemplateNode[] {
    const nodes: TemplateNode[] = []
    for (let token = this.next; token !== undefined && !']|);'.includes(token); token = this.next) {
      nodes.push(this.#readNode(token, depth))
    }
    return nodes
  }

  #readNode(token: string, depth: number): TemplateNode {
    if (token === '[' || token === '(') return this.#readGroup(token, depth + 1)
    const at = this.#at++
    if (token.startsWith('{') || token === '}') return readSlot(token, () => this.placeOf(at))
    if (token.startsWith('<') || token === '>') return readRule(token, () => this.placeOf(at))
    return { kind: 'word', key: token.toLowerCase() }
  }

  #readGroup(open: '[' | '(', depth: number): TemplateNode {
    const place = () => this.placeOf(at)
    const at = this.#at++
    if (depth > MAX_DEPTH)
      throw new TemplateError(`nests brackets more than ${MAX_DEPTH} deep, at character ${place()}`)
    const close = open === '[' ? ']' : ')'
    const parts = [this.readBranch(depth)]
    const separator = this.next === ';' ? ';' : '|'
    while (this.next === separator) {
      this.#at++
      parts.push(this.readBranch(depth))
    }
    if (this.next !== close)
      throw new TemplateError(`has a bracket without a matching '${close}', at character ${place()}`)
    this.#at++
    const branches = separator === ';' ? inAnyOrder(parts, place) : parts
    return { kind: 'group', branches, isOptional: open === '[' }
  }
}

function inAnyOrder(parts: TemplateNode[][], place: () => number): TemplateNode[][] {
  if (parts.length > MAX_ANY_ORDER)
    throw new TemplateError(`has more than ${MAX_ANY_ORDER} parts in any order, at character ${place()}`)
  return permutations(parts).map(order => order.flat())
}

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length < 2) return [[...items]]
  return items.flatMap((first, at) =>
    permutations([...items.slice(0, at), ...items.slice(at + 1)]).map(rest => [first, ...rest]),
  )
}

function readRule(token: string, place: () => number): TemplateNode {
  const name = (PLAIN_RULE.exec(token) ?? RULE.exec(token))?.[1]
  if (name === undefined)
    throw new TemplateError(`has '${token}', which is not a rule name, at character ${place()}`)
  return { kind: 'rule', name: name.toLowerCase() }
}

function readSlot(token: string, place: () => number): TemplateNode {
  const wrong = (problem: string) => new TemplateError(`has '${token}'${problem}, at character ${place()}`)
  const [, name, mark, written = ''] = PLAIN_SLOT.exec(token) ?? SLOT.exec(token) ?? []
  const rest = written.trim()
  if (name === undefined) throw wrong(', which is not an argument')
  if (mark === '=') return { kind: 'fixed', name, value: rest }
  if (mark === '#') {
    if (rest === 'number') return { kind: 'slot', name, isNumber: true }
    if (rest === 'percent') return { kind: 'slot', name, isPercent: true }
    if (rest === 'degrees') return { kind: 'slot', name, isDegrees: true }
    if (rest !== 'math') throw wrong('; expected #math, #number, #percent or #degrees')
    return { kind: 'slot', name, isCalculation: true }
  }
  if (mark === '@') {
    if (rest === '') throw wrong(' without a list name')
    return { kind: 'slot', name, list: rest.toLowerCase() }
  }
  if (mark !== ':') return { kind: 'slot', name }
  const choices = rest.split('|').map(readChoice)
  if (choices.some(({ say, value }) => say === '' || value === '')) throw wrong(' with an empty value')
  return { kind: 'slot', name, choices }
}

function readChoice(written: string): Choice {
  const at = written.indexOf('=')
  const say = (at < 0 ? written : written.slice(0, at)).trim()
  return { say, value: at < 0 ? say : written.slice(at + 1).trim() }
}
