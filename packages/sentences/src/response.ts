export type Values = Readonly<Record<string, unknown>>

const MARKS = /(\{\{.*?\}\}|\{%.*?%\})/s
const WORDS = /\s*("[^"]*"|'[^']*'|==|!=|>=|<=|[<>|]|[\w.-]+)/gy
const COMPARED: Readonly<Record<string, (left: unknown, right: unknown) => boolean>> = {
  '==': (left, right) => left === right,
  '!=': (left, right) => left !== right,
  '>': (left, right) => Number(left) > Number(right),
  '<': (left, right) => Number(left) < Number(right),
  '>=': (left, right) => Number(left) >= Number(right),
  '<=': (left, right) => Number(left) <= Number(right),
  in: (left, right) => (Array.isArray(right) ? right.includes(left) : shown(right).includes(shown(left))),
}
const FILTERS: Readonly<Record<string, (value: unknown) => unknown>> = {
  capitalize: value => shown(value).charAt(0).toUpperCase() + shown(value).slice(1),
  lower: value => shown(value).toLowerCase(),
  join: value => (Array.isArray(value) ? value.map(shown).join(', ') : value),
  length: value => (Array.isArray(value) ? value.length : shown(value).length),
  round: value => Math.round(Number(value) * 10) / 10,
}

/**
 * Fills a response template: `{{ path | filter }}` and `{% if a == 'b' and not c %} … {% elif … %} … {% else %} … {% endif %}`, the
 * part of Jinja that responses need. What it does not know shows nothing.
 */
export function render(template: string, values: Values): string {
  /** For every open `if`: whether this branch is meant, and whether one was. */
  const open: { isMeant: boolean; isDone: boolean }[] = []
  let text = ''
  for (const part of template.split(MARKS)) {
    const [, tag = '', rest = ''] = /^\{%-?\s*(\w+)(.*?)-?%\}$/s.exec(part) ?? []
    const branch = open.at(-1)
    const isTrue = () => tag === 'else' || Boolean(evaluate(rest, values))
    if (tag === 'if') open.push({ isMeant: isTrue(), isDone: isTrue() })
    else if (tag === 'endif') open.pop()
    else if ((tag === 'elif' || tag === 'else') && branch) {
      branch.isMeant = !branch.isDone && isTrue()
      branch.isDone ||= branch.isMeant
    } else if (tag === '' && open.every(({ isMeant }) => isMeant))
      text += part.startsWith('{{') ? shown(evaluate(part.slice(2, -2), values)) : part
  }
  const line = text.replace(/\s+/g, ' ')
  return line.replace(/ ([.,!?])/g, '$1').trim()
}

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
    return compare && ++at ? compare(left, filtered()) : left
  }
  const filtered = (): unknown => {
    const word = words[at++] ?? ''
    const literal = /^["']/.test(word) ? word.slice(1, -1) : Number(word)
    let value: unknown = /^["'\d-]/.test(word) ? literal : valueAt(values, word)
    while (takes('|')) value = FILTERS[words[at++] ?? '']?.(value) ?? value
    return word === 'true' || value
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
