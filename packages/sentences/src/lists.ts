import { type NumberReader, Phrases } from './numbers.ts'
import { anyOf, expand, mistake, type Node, parseTemplate } from './template.ts'
import type { Token } from './text.ts'

/** `free`: how many words are free text. */
export type SlotMatch = { end: number; value: unknown; cost: number; free?: number }

export interface SlotList {
  at(tokens: readonly Token[], pos: number, text: string): SlotMatch[]
  /** Words that are no misspellings of others. */
  words(): Iterable<string>
  /** What a speech recogniser listens for; left out if it can be anything. */
  spoken?(): Node
  spokenFirst?(): Node // At the beginning of a sentence, if that differs
}

export interface WrittenList {
  values?: readonly (string | number | { in: string; out?: unknown })[]
  range?: { from: number; to: number; type?: string; step?: number; multiplier?: number }
  wildcard?: boolean
  spoken?: string // A template for a speech recogniser, besides the values; a range is `<number> [<unit>]`
  /** Ours: units said after a number; `required` if it does not count without one or as a part of a whole. */
  unit?: { words: string[]; required?: boolean }
  /** How calculations are said: `plus: '+'`, `square root of: 'sqrt('`, `squared: '^ 2'`. */
  expression?: Record<string, string>
  duration?: Record<string, number>
  time?: Record<'am' | 'pm' | 'oclock', string[]>
}

export function makeList(written: WrittenList, numbers: NumberReader): SlotList {
  const { expression, duration, time, values, range, wildcard } = written
  const parts = [
    ...(expression ? [expressionList(expression, numbers)] : []),
    ...(duration ? [durationList(duration, numbers)] : []),
    ...(time ? [timeList(time, numbers)] : []),
    ...(values ? [valuesList(values.map(each => (typeof each === 'string' ? { in: each } : each)))] : []),
    ...(range && Number(range.from) <= Number(range.to) ? [rangeList(written, numbers)] : []),
    ...(wildcard ? [WILDCARD] : []),
  ]
  if (parts.length === 0) throw mistake('a list needs values, a range (from, to) or a wildcard', 0)
  const template = written.spoken ?? (range && '<number> [<unit>]')
  const items = parts.flatMap(part => part.spoken?.() ?? []).concat(template ? parseTemplate(template) : [])
  return {
    at: (tokens, pos, text) => parts.flatMap(part => part.at(tokens, pos, text)),
    words: () => parts.flatMap(part => [...part.words()]),
    ...(items.length > 0 && { spoken: () => ({ kind: 'choice', items }) }),
  }
}

export function valuesList(values: NonNullable<WrittenList['values']>): SlotList {
  const entries = values.flatMap(value => {
    if (typeof value !== 'object') return [[String(value), value] as const]
    const said = expand(parseTemplate(value.in)) ?? [value.in]
    return said.map(text => [text, value.out ?? text] as const)
  })
  const phrases = new Phrases<unknown>(entries)
  return {
    at: (tokens, pos) => phrases.at(tokens, pos),
    words: () => phrases.words(),
    spoken: () => anyOf(phrases.phrases()),
  }
}

function rangeList({ range, unit }: WrittenList, numbers: NumberReader): SlotList {
  const { type, multiplier = 1 } = range ?? {}
  const units = new Phrases((unit?.words ?? []).map(word => [word, true] as const))
  return {
    at: (tokens, pos) =>
      numbers.at(tokens, pos).flatMap(({ end, value: said, isPart }) => {
        const withUnit = units.at(tokens, end)
        const isShare = type === 'percentage' && isPart && withUnit.length === 0
        const hundredths = Math.round(said * multiplier * 100)
        const value = isShare ? hundredths : hundredths / 100
        const bare = unit?.required && !isShare ? [] : [{ end, value, cost: 0 }]
        return [...bare, ...withUnit.map(each => ({ end: each.end, value, cost: each.cost }))]
      }),
    words: () => [...numbers.words(), ...units.words()],
  }
}

export const WILDCARD: SlotList = {
  at: (tokens, pos, text) =>
    tokens.slice(pos).map(({ end }, at) => {
      return { end: pos + at + 1, value: text.slice(tokens[pos]?.start, end), cost: 0, free: at + 1 }
    }),
  words: () => [],
}

/** "ten minutes", "an hour and a half", "1 hour 20 minutes": seconds. */
function durationList(units: Record<string, number>, numbers: NumberReader): SlotList {
  const phrases = new Phrases(Object.entries(units))
  type Found = { end: number; value: number }
  const from = (tokens: readonly Token[], pos: number, isFirst: boolean): Found[] => {
    const isJoined = !isFirst && numbers.words().includes(tokens[pos]?.key ?? '')
    const starts = isJoined ? [pos, pos + 1] : [pos]
    const one = starts.flatMap(start => [...numbers.at(tokens, start), { end: start, value: 1 }])
    return one.flatMap(({ end, value }) =>
      (value > 0 ? phrases.at(tokens, end) : []).flatMap(unit => {
        const part = { end: unit.end, value: value * unit.value }
        const rest = from(tokens, unit.end, false)
        const half = numbers.at(tokens, unit.end + 1).filter(({ isPart }) => isPart)
        const more = [...rest, ...half.map(each => ({ end: each.end, value: each.value * unit.value }))]
        return [part, ...more.map(each => ({ end: each.end, value: part.value + each.value }))]
      }),
    )
  }
  return {
    at: (tokens, pos) => from(tokens, pos, true).map(each => ({ ...each, cost: 0 })),
    words: () => [...numbers.words(), ...phrases.words()],
  }
}

/** "7:30", "seven pm": HH:MM. */
function timeList({ am, pm, oclock }: NonNullable<WrittenList['time']>, numbers: NumberReader): SlotList {
  const all = [am, pm, oclock].flatMap((words, half) => words.map(word => [word, half] as const))
  const halves = new Phrases(all)
  const two = (value: number) => String(value).padStart(2, '0')
  return {
    at: (tokens, pos) => {
      const [, hours, minutes] = /^(\d{1,2}):(\d\d)$/.exec(tokens[pos]?.key ?? '') ?? []
      const clock = { end: pos + 1, value: Number(hours) }
      return (hours ? [clock] : numbers.at(tokens, pos)).flatMap(({ end, value: hour }) =>
        [...halves.at(tokens, end), { end, value: 2 }].flatMap(half => {
          const of24 = half.value === 2 ? hour : (hour % 12) + half.value * 12
          const isTime = of24 < 24 && Number(minutes ?? 0) < 60
          return isTime ? [{ end: half.end, value: `${two(of24)}:${minutes ?? '00'}`, cost: 0 }] : []
        }),
      )
    },
    words: () => halves.words(),
  }
}

/** A whole calculation: values, each with brackets and functions around it, and operators between them. */
const CALCULATION =
  /^-? ?(?:[a-z]\w*)?\(*[\d./]+(?: %| \^ \d| ?\))*(?: (?:[-+*/^]|% of) (?:[a-z]\w*)?\(*[\d./]+(?: %| \^ \d| ?\))*)*$/

/** Calculations in words or symbols, as symbols: with an operator, and brackets that match. */
function expressionList(written: Record<string, string>, numbers: NumberReader): SlotList {
  const longestLast = Object.entries(written).sort(([one], [other]) => one.length - other.length)
  const phrases = new Phrases(longestLast)
  const pieceAt = (tokens: readonly Token[], at: number) => {
    const key = tokens[at]?.key ?? ''
    const said = phrases.at(tokens, at).at(-1)
    if (said) return said
    const number = numbers.at(tokens, at).findLast(({ isPart }) => !isPart || /^[\d.]/.test(key))
    const isWritten = /^[\d./]+$/.test(key) && number?.end === at + 1
    if (number && key !== '-')
      return { end: number.end, value: isWritten ? key.replace('/', ' / ') : `${number.value}` }
    const isName = /^[a-z][a-z0-9]*$/.test(key) && tokens[at + 1]?.key === '('
    if (isName) return { end: at + 2, value: `${key}(` }
    return /^[-+*/^%()x]$/.test(key) ? { end: at + 1, value: key === 'x' ? '*' : key } : undefined
  }
  const read = (tokens: readonly Token[], pos: number): SlotMatch[] => {
    const found: SlotMatch[] = []
    let text = ''
    let isSaidCall = false
    for (let piece = pieceAt(tokens, pos); piece; piece = pieceAt(tokens, piece.end)) {
      text = `${text} ${piece.value}${isSaidCall ? ')' : ''}`
        .replace('( ', '(')
        .replace(' )', ')')
        .trimStart()
      isSaidCall = 'cost' in piece && piece.value.endsWith('(')
      const isBalanced = text.split('(').length === text.split(')').length
      if (isBalanced && /[^\d.]/.test(text) && CALCULATION.test(text))
        found.push({ end: piece.end, value: text, cost: 0 })
    }
    return found
  }
  return { at: read, words: () => [...numbers.words(), ...phrases.words()] }
}
