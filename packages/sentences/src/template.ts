import { keysOf } from './text.ts'

type Said = readonly { in: string; out?: unknown }[]

export type Node =
  | { readonly kind: 'word'; readonly key: string }
  | { readonly kind: 'sequence'; readonly items: readonly Node[] }
  | { readonly kind: 'choice'; readonly items: readonly Node[] }
  | { readonly kind: 'rule'; readonly name: string }
  /** `{list:slot}`; in `{action:on|off}` the list is its own. */
  | { readonly kind: 'list'; readonly list: string; readonly slot: string; readonly values?: Said }
  /** `{action=on}`: says nothing, sets the slot. */
  | { readonly kind: 'fixed'; readonly slot: string; readonly value: unknown }

/** A mistake in a template; `column` counts from 0. */
export function mistake(message: string, column: number): Error & { column: number } {
  return Object.assign(new Error(message), { column })
}

const MAX_EXPANSIONS = 300
const MAX_PERMUTED = 5
const SPECIAL = /[\s()[\]{}<>|;]/
const EMPTY: Node = { kind: 'sequence', items: [] }

/** Parses `turn on [the] (lamp|light[s]) {name:device} <now>`. Throws a mistake. */
export function parseTemplate(template: string): Node {
  let at = 0

  /** Up to the closing bracket, or to the end. `a|b` is a choice, `a;b` both in any order. */
  const alternatives = (closing: string | undefined): Node => {
    const opened = at - 1
    const parts = [sequence()]
    const divider = template[at]
    while (template[at] !== closing) {
      const next = template[at]
      if (next === undefined) throw mistake(`the '${template[opened]}' is not closed`, opened)
      if ((next !== '|' && next !== ';') || closing === undefined) throw mistake(`unexpected '${next}'`, at)
      if (next !== divider) throw mistake("'|' and ';' are mixed", at)
      at++
      parts.push(sequence())
    }
    at++
    if (parts.length === 1) return parts[0] ?? EMPTY
    if (divider === '|') return { kind: 'choice', items: parts }
    if (parts.length > MAX_PERMUTED) throw mistake('too many parts in any order', opened)
    return { kind: 'choice', items: permutations(parts).map(items => ({ kind: 'sequence', items })) }
  }

  /** Fixed text without blanks is one word: `light[s]` is "light" or "lights". */
  const sequence = (): Node => {
    const items: Node[] = []
    let run: (Node | string)[] = []
    const endRun = () => {
      const texts =
        run.length > 1 && product(run.map(part => (typeof part === 'string' ? [part] : expand(part))))
      if (texts) items.push({ kind: 'choice', items: texts.map(words) })
      else items.push(...run.map(part => (typeof part === 'string' ? words(part) : part)))
      run = []
    }
    for (let char = template[at]; char !== undefined && !'|;)]'.includes(char); char = template[at]) {
      if (/\s/.test(char)) {
        endRun()
        at++
      } else run.push(part(char))
    }
    endRun()
    return items.length === 1 && items[0] ? items[0] : { kind: 'sequence', items }
  }

  const part = (char: string): Node | string => {
    const start = at++
    if (char === '(') return alternatives(')')
    if (char === '[') return { kind: 'choice', items: [alternatives(']'), EMPTY] }
    if (char === '<') return { kind: 'rule', name: name('>', start) }
    if (char === '{') return slotOf(name('}', start), start)
    if (char === '}' || char === '>') throw mistake(`unexpected '${char}'`, start)
    let text = ''
    for (at = start; at < template.length && !SPECIAL.test(template[at] ?? ''); at++) {
      if (template[at] === '\\') at++
      text += template[at] ?? ''
    }
    return text
  }

  const name = (closing: string, opened: number): string => {
    const end = template.indexOf(closing, at)
    if (end < 0) throw mistake(`the '${template[opened]}' is not closed`, opened)
    const text = template.slice(at, end).trim()
    if (!/^[^(){}[\]<>]+$/.test(text)) throw mistake('a name is missing', opened)
    at = end + 1
    return text
  }

  const node = alternatives(undefined)
  if (isEmpty(node)) throw mistake('the sentence is empty', 0)
  return node
}

function slotOf(text: string, at: number): Node {
  const [, slot = '', sign, rest = ''] = /^([^:=]+)([:=])?(.*)$/.exec(text) ?? []
  if (slot === '' || (sign && rest.trim() === '')) throw mistake('a name is missing', at)
  if (sign === '=') return { kind: 'fixed', slot: slot.trim(), value: literal(rest) }
  if (!rest.includes('|')) return { kind: 'list', list: slot.trim(), slot: (rest || slot).trim() }
  const values = rest.split('|').map(each => {
    const [said = '', meant = said] = each.split('=')
    return { in: said.trim(), out: literal(meant) }
  })
  return { kind: 'list', list: '', slot: slot.trim(), values }
}

function literal(text: string): unknown {
  const trimmed = text.trim()
  if (trimmed === 'true' || trimmed === 'false') return trimmed === 'true'
  return trimmed !== '' && !Number.isNaN(Number(trimmed)) ? Number(trimmed) : trimmed
}

function words(text: string): Node {
  const items = keysOf(text).map((key): Node => ({ kind: 'word', key }))
  return items.length === 1 && items[0] ? items[0] : { kind: 'sequence', items }
}

/** A template whose `<rules>` are these nodes. */
export function fill(template: string, nodes: Readonly<Record<string, Node>>): Node {
  const filled = (node: Node): Node => {
    if (node.kind === 'rule') return nodes[node.name] ?? node
    return 'items' in node ? { ...node, items: node.items.map(filled) } : node
  }
  return filled(parseTemplate(template))
}

/** Any of these phrases; those that begin alike share their way. */
export function anyOf(phrases: Iterable<readonly string[]>): Node {
  const byFirst = new Map<string, string[][]>()
  for (const [first, ...rest] of phrases)
    if (first !== undefined) byFirst.set(first, [...(byFirst.get(first) ?? []), rest])
  const items = [...byFirst].map(([key, rests]): Node => {
    const more = rests.filter(({ length }) => length > 0)
    const rest = more.length < rests.length ? fill('[<more>]', { more: anyOf(more) }) : anyOf(more)
    return more.length > 0 ? { kind: 'sequence', items: [words(key), rest] } : words(key)
  })
  return { kind: 'choice', items }
}

/** All texts of a node without slots and rules; `undefined` if it has some, or too many. */
export function expand(node: Node): string[] | undefined {
  if (node.kind === 'word') return [node.key]
  if (node.kind === 'sequence') return product(node.items.map(expand), ' ')
  if (node.kind !== 'choice') return undefined
  const all = node.items.map(expand)
  return all.every(texts => texts !== undefined) ? all.flat() : undefined
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
  return items.flatMap((first, at) => permutations(items.toSpliced(at, 1)).map(rest => [first, ...rest]))
}

function isEmpty(node: Node): boolean {
  return 'items' in node ? node.items.every(isEmpty) : node.kind === 'fixed'
}

export function* nodesOf(node: Node): Generator<Node> {
  yield node
  if ('items' in node) for (const each of node.items) yield* nodesOf(each)
}
