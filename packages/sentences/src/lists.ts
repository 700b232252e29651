import { type ExpressionWords, readExpression } from './expression.ts'
import { type NumberReader, Phrases } from './numbers.ts'
import { expand, parseTemplate } from './template.ts'
import { keysOf, type Token } from './text.ts'

/** What a slot took from the request. */
export interface SlotMatch {
  end: number
  value: unknown
  cost: number
  /** How many words are free text. */
  free?: number
}

/** Words for a speech recogniser: either phrases, or numbers of a range. */
type SpokenList =
  | { phrases: Iterable<readonly string[]> }
  | { from: number; to: number; units: readonly string[][] }

/** What can be said for a slot. */
export interface SlotList {
  at(tokens: readonly Token[], pos: number, text: string): SlotMatch[]
  /** Words that are no misspellings of others. */
  words(): Iterable<string>
  /** `undefined` if it cannot be enumerated. */
  spoken(): SpokenList | undefined
}

/** A list as the files write it. */
export interface WrittenList {
  values?: readonly (string | number | { in: string; out?: unknown })[]
  range?: { from: number; to: number; type?: string; step?: number; multiplier?: number }
  wildcard?: boolean
  /** Ours: units said after a number; `required` if it does not count without one or as a part of a whole. */
  unit?: { words: string[]; required?: boolean }
  expression?: ExpressionWords
  /** Unit → seconds: reads durations. */
  duration?: Record<string, number>
  /** Words of clock times. */
  time?: TimeWords
}

interface TimeWords {
  am: string[]
  pm: string[]
  oclock: string[]
  named?: Record<string, string>
}

export function makeList(written: WrittenList, numbers: NumberReader): SlotList {
  if (written.expression) return expressionList(written.expression, numbers)
  if (written.duration) return durationList(written.duration, numbers)
  if (written.time) return timeList(written.time, numbers)
  const parts = [
    ...(written.values ? [valuesList(written.values)] : []),
    ...(written.range ? [rangeList(written.range, written.unit, numbers)] : []),
    ...(written.wildcard ? [WILDCARD] : []),
  ]
  if (parts.length === 1 && parts[0]) return parts[0]
  return {
    at: (tokens, pos, text) => parts.flatMap(part => part.at(tokens, pos, text)),
    words: () => parts.flatMap(part => [...part.words()]),
    spoken: () => parts.map(part => part.spoken()).findLast(spoken => spoken !== undefined),
  }
}

/** Fixed values, each said in one or several ways. */
export function valuesList(values: NonNullable<WrittenList['values']>): SlotList {
  const entries = values.flatMap(value => {
    if (typeof value !== 'object') return [[String(value), value] as const]
    const said = expand(parseTemplate(value.in)) ?? [value.in]
    return said.map(text => [text, value.out ?? value.in] as const)
  })
  const phrases = new Phrases<unknown>(entries)
  return {
    at: (tokens, pos) => phrases.at(tokens, pos),
    words: () => phrases.words(),
    spoken: () => ({ phrases: [...phrases.phrases()].map(({ keys }) => keys) }),
  }
}

function rangeList(
  { from, to, type, multiplier = 1 }: NonNullable<WrittenList['range']>,
  unit: WrittenList['unit'],
  numbers: NumberReader,
): SlotList {
  const units = new Phrases((unit?.words ?? []).map(word => [word, true] as const))
  const isShare = type === 'percentage'
  return {
    at: (tokens, pos) =>
      numbers.at(tokens, pos).flatMap(({ end, value: said, isPart }) => {
        const withUnit = units.at(tokens, end)
        const isWhole = isShare && isPart && withUnit.length === 0
        const value = isWhole ? Math.round(said * 100 * multiplier) : round(said * multiplier)
        const bare = unit?.required && !isWhole ? [] : [{ end, value, cost: 0 }]
        return [...bare, ...withUnit.map(each => ({ end: each.end, value, cost: each.cost }))]
      }),
    words: () => [...numbers.words(), ...units.words()],
    spoken: () => ({
      from,
      to,
      units: [...(unit?.required ? [] : [[]]), ...(unit?.words ?? []).map(keysOf)].slice(0, 2),
    }),
  }
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}

export const WILDCARD: SlotList = {
  at: (tokens, pos, text) => {
    const start = tokens[pos]
    if (!start) return []
    return tokens.slice(pos).map((token, at) => ({
      end: pos + at + 1,
      value: text.slice(start.start, token.end),
      cost: 0,
      free: at + 1,
    }))
  },
  words: () => [],
  spoken: () => undefined,
}

function expressionList(written: ExpressionWords, numbers: NumberReader): SlotList {
  return {
    at: (tokens, pos) => readExpression(tokens, pos, written, numbers).map(found => ({ ...found, cost: 0 })),
    words: () => [...numbers.words(), ...Object.keys(written).flatMap(keysOf)],
    spoken: () => undefined,
  }
}

/** "ten minutes", "an hour and a half", "1 hour 20 minutes": seconds. */
function durationList(units: Record<string, number>, numbers: NumberReader): SlotList {
  const phrases = new Phrases(Object.entries(units))
  const one = (tokens: readonly Token[], pos: number): { end: number; value: number }[] =>
    [...numbers.at(tokens, pos), { end: pos, value: 1 }].flatMap(({ end, value }) =>
      phrases.at(tokens, end).map(unit => ({ end: unit.end, value: value * unit.value })),
    )
  return {
    at: (tokens, pos) =>
      one(tokens, pos).flatMap(first => {
        const isJoined = numbers.words().includes(tokens[first.end]?.key ?? '')
        const rest = [...one(tokens, first.end), ...(isJoined ? one(tokens, first.end + 1) : [])]
        const whole = rest.map(more => ({ end: more.end, value: first.value + more.value }))
        return [first, ...whole].map(each => ({ ...each, cost: 0 }))
      }),
    words: () => [...numbers.words(), ...phrases.words()],
    spoken: () => undefined,
  }
}

/** "7:30", "seven pm", "noon": HH:MM. */
function timeList({ am, pm, oclock, named = {} }: TimeWords, numbers: NumberReader): SlotList {
  const names = new Phrases(Object.entries(named))
  const halves = new Phrases<number>([
    ...am.map(word => [word, 0] as const),
    ...pm.map(word => [word, 12] as const),
    ...oclock.map(word => [word, -1] as const),
  ])
  const two = (value: number) => String(value).padStart(2, '0')
  const clock = (hours: number, minutes: number, half: number) => {
    const hour = half === 12 && hours < 12 ? hours + 12 : half === 0 && hours === 12 ? 0 : hours
    return hour < 24 && minutes < 60 ? `${two(hour)}:${two(minutes)}` : undefined
  }
  return {
    at: (tokens, pos) => {
      const [, hours, minutes] = /^(\d{1,2}):(\d\d)$/.exec(tokens[pos]?.key ?? '') ?? []
      const read =
        hours !== undefined
          ? [{ end: pos + 1, hours: Number(hours), minutes: Number(minutes) }]
          : numbers.at(tokens, pos).map(({ end, value }) => ({ end, hours: value, minutes: 0 }))
      const found = read.flatMap(({ end, hours: hour, minutes: minute }) =>
        [...halves.at(tokens, end), { end, value: -1 }].map(({ end: after, value: half }) => {
          return { end: after, value: clock(hour, minute, half), cost: 0 }
        }),
      )
      return [...found.filter(({ value }) => value !== undefined), ...names.at(tokens, pos)]
    },
    words: () => [...names.words(), ...halves.words()],
    spoken: () => undefined,
  }
}
