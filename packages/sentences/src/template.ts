import { keysOf } from './text.ts'

/** A parsed sentence template in Home Assistant's syntax. */
export type Node =
  | { readonly kind: 'word'; readonly key: string }
  | { readonly kind: 'sequence'; readonly items: readonly Node[] }
  | { readonly kind: 'choice'; readonly options: readonly Node[] }
  | { readonly kind: 'rule'; readonly name: string }
  | { readonly kind: 'list'; readonly list: string; readonly slot: string }
  /** `{action:on|off}`: one of these words, as the value of the slot. */
  | {
      readonly kind: 'values'
      readonly slot: string
      readonly values: readonly { in: string; out: unknown }[]
    }
  /** `{action=on}`: says nothing, sets the slot. */
  | { readonly kind: 'fixed'; readonly slot: string; readonly value: unknown }

/** A mistake in a template; `column` counts from 0. */
export class TemplateError extends Error {
  readonly column: number
  constructor(message: string, column: number) {
    super(message)
    this.name = 'TemplateError'
    this.column = column
  }
}

const MAX_EXPANSIONS = 300
const MAX_PERMUTED = 5
const EMPTY: Node = { kind: 'sequence', items: [] }

/** An item, and whether it follows its predecessor without a blank: `light[s]`. */
interface Item {
  node: Node
  /** Fixed text that is not cut into words yet. */
  text?: string
  isGlued: boolean
}

/** Parses `turn on [the] (lamp|light[s]) {name:device} <now>`. Throws a TemplateError. */
export function parseTemplate(template: string): Node {
  const parser = new Parser(template)
  const node = parser.alternatives(undefined)
  if (isEmpty(node)) throw new TemplateError('the sentence is empty', 0)
  return node
}

class Parser {
  #at = 0
  readonly #template: string

  constructor(template: string) {
    this.#template = template
  }

  /** Up to the closing bracket, or to the end. `a|b` is a choice, `a;b` both in any order. */
  alternatives(closing: string | undefined): Node {
    const opened = this.#at - 1
    const parts: Node[] = []
    let divider: string | undefined
    for (;;) {
      parts.push(this.#sequence())
      const next = this.#template[this.#at]
      if (next === closing) break
      if (next === undefined) throw new TemplateError(`the '${this.#template[opened]}' is not closed`, opened)
      if ((next !== '|' && next !== ';') || closing === undefined)
        throw new TemplateError(`unexpected '${next}'`, this.#at)
      if (divider && divider !== next) throw new TemplateError("'|' and ';' are mixed", this.#at)
      divider = next
      this.#at++
    }
    this.#at++
    if (divider === undefined) return parts[0] ?? EMPTY
    if (divider === '|') return { kind: 'choice', options: parts }
    if (parts.length > MAX_PERMUTED) throw new TemplateError('too many parts in any order', opened)
    return { kind: 'choice', options: permutations(parts).map(items => ({ kind: 'sequence', items })) }
  }

  #sequence(): Node {
    const items: Item[] = []
    let isGlued = false
    for (;;) {
      const char = this.#template[this.#at]
      if (char === undefined || '|;)]'.includes(char)) break
      if (/\s/.test(char)) {
        this.#at++
        isGlued = false
        continue
      }
      items.push({ ...this.#item(char), isGlued })
      isGlued = true
    }
    return joined(items)
  }

  #item(char: string): Omit<Item, 'isGlued'> {
    const start = this.#at++
    if (char === '(') return { node: this.alternatives(')') }
    if (char === '[') return { node: { kind: 'choice', options: [this.alternatives(']'), EMPTY] } }
    if (char === '<') return { node: { kind: 'rule', name: this.#name('>', start) } }
    if (char === '{') return { node: slotOf(this.#name('}', start), start) }
    if (char === '}' || char === '>') throw new TemplateError(`unexpected '${char}'`, start)
    let text = ''
    for (this.#at = start; this.#at < this.#template.length; this.#at++) {
      const next = this.#template[this.#at] ?? ''
      if (next === '\\') text += this.#template[++this.#at] ?? ''
      else if (/[\s()[\]{}<>|;]/.test(next)) break
      else text += next
    }
    return { node: EMPTY, text }
  }

  #name(closing: string, opened: number): string {
    const end = this.#template.indexOf(closing, this.#at)
    if (end < 0) throw new TemplateError(`the '${this.#template[opened]}' is not closed`, opened)
    const name = this.#template.slice(this.#at, end).trim()
    if (!/^[^\s(){}[\]<>]+( *[^(){}[\]<>]+)?$/.test(name))
      throw new TemplateError('a name is missing', opened)
    this.#at = end + 1
    return name
  }
}

function slotOf(text: string, at: number): Node {
  const [, slot = '', sign, rest = ''] = /^([^:=]+)([:=])?(.*)$/.exec(text) ?? []
  if (slot === '' || (sign && rest.trim() === '')) throw new TemplateError('a name is missing', at)
  if (sign === '=') return { kind: 'fixed', slot: slot.trim(), value: literal(rest) }
  if (!rest.includes('|')) return { kind: 'list', list: slot.trim(), slot: (rest || slot).trim() }
  const values = rest.split('|').map(each => {
    const [said = '', meant = said] = each.split('=')
    return { in: said.trim(), out: literal(meant) }
  })
  return { kind: 'values', slot: slot.trim(), values }
}

function literal(text: string): unknown {
  const trimmed = text.trim()
  if (trimmed === 'true' || trimmed === 'false') return trimmed === 'true'
  return trimmed !== '' && !Number.isNaN(Number(trimmed)) ? Number(trimmed) : trimmed
}

/** The items in order. Fixed text written without blanks is one word: `light[s]` is "light" or "lights". */
function joined(items: readonly Item[]): Node {
  const nodes: Node[] = []
  for (let at = 0; at < items.length; ) {
    let end = at + 1
    while (items[end]?.isGlued) end++
    const run = items.slice(at, end)
    const texts = run.length > 1 ? product(run.map(textsOf)) : undefined
    nodes.push(
      ...(texts
        ? [choiceOf(texts)]
        : run.map(item => (item.text === undefined ? item.node : words(item.text)))),
    )
    at = end
  }
  return nodes.length === 1 && nodes[0] ? nodes[0] : { kind: 'sequence', items: nodes }
}

function words(text: string): Node {
  const items = keysOf(text).map((key): Node => ({ kind: 'word', key }))
  return items.length === 1 && items[0] ? items[0] : { kind: 'sequence', items }
}

function choiceOf(texts: readonly string[]): Node {
  return { kind: 'choice', options: texts.map(words) }
}

function textsOf({ text, node }: Item): string[] | undefined {
  return text === undefined ? expand(node) : [text]
}

/** All texts of a node without slots and rules; `undefined` if it has some, or too many. */
export function expand(node: Node): string[] | undefined {
  if (node.kind === 'word') return [node.key]
  if (node.kind === 'choice') {
    const all = node.options.map(expand)
    return all.every(texts => texts !== undefined) ? all.flat() : undefined
  }
  if (node.kind !== 'sequence') return undefined
  return product(node.items.map(expand), ' ')
}

function product(parts: readonly (readonly string[] | undefined)[], between = ''): string[] | undefined {
  let texts = ['']
  for (const part of parts) {
    if (!part || part.length * texts.length > MAX_EXPANSIONS) return undefined
    texts = texts.flatMap(text =>
      part.map(next => (text && next ? `${text}${between}${next}` : text || next)),
    )
  }
  return texts
}

function permutations(items: readonly Node[]): Node[][] {
  if (items.length < 2) return [[...items]]
  return items.flatMap((first, at) =>
    permutations(items.filter((_, other) => other !== at)).map(rest => [first, ...rest]),
  )
}

function isEmpty(node: Node): boolean {
  if (node.kind === 'sequence') return node.items.every(isEmpty)
  return node.kind === 'choice' ? node.options.every(isEmpty) : node.kind === 'fixed'
}

/** Every node of a tree. */
export function* nodesOf(node: Node): Generator<Node> {
  yield node
  const inner = node.kind === 'sequence' ? node.items : node.kind === 'choice' ? node.options : []
  for (const each of inner) yield* nodesOf(each)
}
