/** What a response template can refer to. */
export type Values = Readonly<Record<string, unknown>>

type Part = { text: string } | { show: string } | { tag: string; rest: string }
const MARKS = /\{\{(.*?)\}\}|\{%-?\s*(\w+)(.*?)-?%\}/gs
const WORDS = /\s*("[^"]*"|'[^']*'|==|!=|>=|<=|[<>()|]|[\w.-]+)/gy
const COMPARED: Readonly<Record<string, (left: unknown, right: unknown) => boolean>> = {
  '==': (left, right) => left === right,
  '!=': (left, right) => left !== right,
  '>': (left, right) => Number(left) > Number(right),
  '<': (left, right) => Number(left) < Number(right),
  '>=': (left, right) => Number(left) >= Number(right),
  '<=': (left, right) => Number(left) <= Number(right),
  in: (left, right) => (Array.isArray(right) ? right.includes(left) : String(right).includes(String(left))),
}
const FILTERS: Readonly<Record<string, (value: unknown) => unknown>> = {
  capitalize: value => shown(value).charAt(0).toUpperCase() + shown(value).slice(1),
  lower: value => shown(value).toLowerCase(),
  length: value => (Array.isArray(value) ? value.length : shown(value).length),
  round: value => Math.round(Number(value) * 10) / 10,
}

/**
 * Fills a response template: `{{ path | filter }}` and `{% if a == 'b' and not c %} … {% elif … %} … {% else %} … {% endif %}`, the
 * part of Jinja that responses need. What it does not know shows nothing.
 */
export function render(template: string, values: Values): string {
  const parts: Part[] = []
  let end = 0
  for (const match of template.matchAll(MARKS)) {
    const [whole, show, tag, rest = ''] = match
    parts.push({ text: template.slice(end, match.index) })
    parts.push(tag === undefined ? { show: show ?? '' } : { tag, rest })
    end = match.index + whole.length
  }
  parts.push({ text: template.slice(end) })
  let at = 0
  /** Up to the tag that ends it; says nothing if it is not meant. */
  const block = (isMeant: boolean): string => {
    let text = ''
    for (; at < parts.length; at++) {
      const part = parts[at] as Part
      if ('text' in part) text += part.text
      else if ('show' in part) text += shown(evaluate(part.show, values))
      else if (part.tag === 'if') text += choice(isMeant)
      else if (['elif', 'else', 'endif'].includes(part.tag)) break
    }
    return isMeant ? text : ''
  }
  const choice = (isMeant: boolean): string => {
    let text = ''
    let isDone = !isMeant
    for (let part = parts[at]; part && 'tag' in part && part.tag !== 'endif'; part = parts[at]) {
      const isTrue = !isDone && (part.tag === 'else' || Boolean(evaluate(part.rest, values)))
      at++
      text += block(isTrue)
      isDone ||= isTrue
    }
    return text
  }
  const said = block(true).replace(/\s+/g, ' ')
  return said.replace(/ ([.,!?])/g, '$1').trim()
}

/** The value of an expression. */
function evaluate(text: string, values: Values): unknown {
  const words = [...text.matchAll(WORDS)].map(([, word = '']) => word)
  let at = 0
  const takes = (word: string) => words[at] === word && ++at > 0
  const either = (): unknown => {
    let left = both()
    while (takes('or')) left = [left, both()].find(Boolean)
    return left
  }
  const both = (): unknown => {
    let left = negated()
    while (takes('and')) left = [left, negated()].every(Boolean)
    return left
  }
  const negated = (): unknown => (takes('not') ? !negated() : compared())
  const compared = (): unknown => {
    const left = filtered()
    const compare = COMPARED[words[at] ?? '']
    if (!compare) return left
    at++
    return compare(left, filtered())
  }
  const filtered = (): unknown => {
    let value = simple()
    while (takes('|')) {
      const filter = FILTERS[words[at++] ?? '']
      value = filter ? filter(value) : value
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
    return word === 'true' || word === 'false' ? word === 'true' : valueAt(values, word)
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

function shown(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
