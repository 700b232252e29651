/** What a response template can refer to. */
export type Values = Readonly<Record<string, unknown>>

type Part = { text: string } | { show: string } | { tag: string; rest: string }
const MARKS = /\{\{(.*?)\}\}|\{%-?\s*(\w+)(.*?)-?%\}/gs
const WORDS = /\s*("[^"]*"|'[^']*'|==|!=|>=|<=|[<>()|]|[\w.-]+)/gy

/**
 * Fills a response template: `{{ path | filter }}` and `{% if a == 'b' and not c %} … {% elif … %} … {% else %} … {% endif %}`, the
 * part of Jinja that responses need. What it does not know shows nothing.
 */
export function render(template: string, values: Values): string {
  const parts: Part[] = []
  let at = 0
  for (const match of template.matchAll(MARKS)) {
    const [whole, shown, tag, rest = ''] = match
    parts.push({ text: template.slice(at, match.index) })
    parts.push(tag === undefined ? { show: shown ?? '' } : { tag, rest })
    at = match.index + whole.length
  }
  parts.push({ text: template.slice(at) })
  const output = new Output(parts, values).block(true)
  return output
    .replace(/\s+/g, ' ')
    .replace(/ ([.,!?])/g, '$1')
    .trim()
}

class Output {
  readonly #parts: readonly Part[]
  readonly #values: Values
  #at = 0

  constructor(parts: readonly Part[], values: Values) {
    this.#parts = parts
    this.#values = values
  }

  /** Up to the tag that ends it; says nothing if it is not meant. */
  block(isMeant: boolean): string {
    let text = ''
    for (; this.#at < this.#parts.length; this.#at++) {
      const part = this.#parts[this.#at] as Part
      if ('text' in part) text += part.text
      else if ('show' in part) text += shown(evaluate(part.show, this.#values))
      else if (part.tag === 'if') text += this.#choice(isMeant)
      else if (['elif', 'else', 'endif'].includes(part.tag)) break
    }
    return isMeant ? text : ''
  }

  #choice(isMeant: boolean): string {
    let text = ''
    let isDone = !isMeant
    for (;;) {
      const part = this.#parts[this.#at]
      if (!part || !('tag' in part) || part.tag === 'endif') return text
      const isTrue = !isDone && (part.tag === 'else' || Boolean(evaluate(part.rest, this.#values)))
      this.#at++
      text += this.block(isTrue)
      isDone ||= isTrue
    }
  }
}

/** The value of an expression. */
function evaluate(text: string, values: Values): unknown {
  const words = [...text.matchAll(WORDS)].map(([, word = '']) => word)
  let at = 0
  const either = (): unknown => {
    let left = both()
    while (words[at] === 'or') {
      at++
      const right = both()
      left = left || right
    }
    return left
  }
  const both = (): unknown => {
    let left = negated()
    while (words[at] === 'and') {
      at++
      const right = negated()
      left = left && right
    }
    return left
  }
  const negated = (): unknown => {
    if (words[at] !== 'not') return compared()
    at++
    return !negated()
  }
  const compared = (): unknown => {
    const left = filtered()
    const sign = words[at] ?? ''
    if (!['==', '!=', '>', '<', '>=', '<=', 'in'].includes(sign)) return left
    at++
    const right = filtered()
    if (sign === '==') return left === right
    if (sign === '!=') return left !== right
    if (sign === 'in')
      return Array.isArray(right) ? right.includes(left) : String(right).includes(String(left))
    const [one, other] = [Number(left), Number(right)]
    return sign === '>'
      ? one > other
      : sign === '<'
        ? one < other
        : sign === '>='
          ? one >= other
          : one <= other
  }
  const filtered = (): unknown => {
    let value = simple()
    while (words[at] === '|') {
      value = filter(words[at + 1] ?? '', value)
      at += 2
    }
    return value
  }
  const simple = (): unknown => {
    const word = words[at++] ?? ''
    if (word === '(') {
      const value = either()
      at++
      return value
    }
    if (/^["']/.test(word)) return word.slice(1, -1)
    if (/^-?\d/.test(word)) return Number(word)
    if (word === 'true' || word === 'false') return word === 'true'
    return valueAt(values, word)
  }
  return either()
}

/** The value at a path such as `result.readings.0.text`. */
export function valueAt(from: unknown, path: string): unknown {
  let value = from
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = (value as Record<string, unknown>)[name]
  }
  return value
}

function filter(name: string, value: unknown): unknown {
  const text = shown(value)
  if (name === 'capitalize') return text.charAt(0).toUpperCase() + text.slice(1)
  if (name === 'lower') return text.toLowerCase()
  if (name === 'length' && Array.isArray(value)) return value.length
  if (name === 'round') return Math.round(Number(value) * 10) / 10
  return value
}

function shown(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
