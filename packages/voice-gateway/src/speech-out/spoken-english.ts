import { readData } from '../data.ts'

/** What a pattern finds is replaced by what is said. */
type Replacement = Readonly<Record<'find' | 'flags' | 'say', string>>

interface SpokenEnglish extends Readonly<Record<'first' | 'numbers' | 'last', readonly Replacement[]>> {
  readonly months: readonly string[]
  /** The spoken singular and plural. */
  readonly units: Readonly<Record<string, readonly [one: string, several: string]>>
  /** Units that could also end a name, as in "Zone 3A", count only after a space. */
  readonly unitsAfterSpace: readonly string[]
}

type Rule = readonly [found: RegExp, instead: string | ((...parts: string[]) => string)]

const data = readData<SpokenEnglish>('spoken-english.json')
/** Nobody says more than this after the decimal point, or after the zeros that follow it. */
const DECIMALS = 2
const SMALL_DIGITS = 3

/** Longest first; spelling variants are the same unit. */
const UNIT = Object.keys(data.units)
  .sort((a, b) => b.length - a.length)
  .map(unit => unit.replaceAll('µ', '[µμ]').replace('²', '(?:²|\\^?2)').replace('³', '(?:³|\\^?3)'))
  .join('|')

/** Applied in order. A run is matched only from its beginning, so that no text makes them slow. */
const RULES: readonly Rule[] = [
  ...data.first.map(toRule),
  [/(?<!\d)(\d{4})-(\d\d)-(\d\d)(?![\d-])T?/g, sayIsoDate],
  [/(?<=\d:\d\d):\d\d(?:\.\d+)?(?:Z(?![\p{L}\d])|[+-]\d\d:?\d\d)?/gu, ''],
  [/(?<=\d:\d\d) ?[-–] ?(?=\d?\d:\d\d)/g, ' to '],
  [/(?<![\d:.])([01]?\d|2[0-4]):([0-5]\d)(?![\d:]|\.\d)(?: ?([ap])\.?m\b\.?)?/gi, sayTime],
  [/(?<![\p{L}\d.,:-])(\d+\.\d{3,})(?![\d\p{L}]|[.,:]\d)/gu, sayRounded],
  ...data.numbers.map(toRule),
  [
    new RegExp(
      `(?<![\\p{L}\\d.,])(\\d[\\d.,]*)([ \\u00a0\\u202f]?)(${UNIT})(?![\\p{L}\\p{N}²³^]|/(?!\\p{L}{3}))`,
      'gu',
    ),
    sayQuantity,
  ],
  ...data.last.map(toRule),
]

/**
 * A sentence as a person would say it: numbers, units, times, dates and abbreviations in words, wherever a voice would
 * spell them out, misread them or skip them. Plain figures stay: every voice can say those.
 */
export function spokenEnglish(sentence: string): string {
  return RULES.reduce((rest, [found, instead]) => rest.replace(found, instead as string), sentence).trim()
}

function toRule({ find, flags, say }: Replacement): Rule {
  return [new RegExp(find, flags), say]
}

function sayIsoDate(whole: string, year = '', month = '', day = ''): string {
  const name = data.months[Number(month) - 1]
  return name && Number(day) >= 1 && Number(day) <= 31 ? `${Number(day)} ${name} ${year} ` : whole
}

/** 19:05 as 7 oh 5 PM, on the 12-hour clock. */
function sayTime(_whole: string, hours = '', minutes = '', half?: string): string {
  const hour = Number(hours) % 24
  const said = half ? `${half.toUpperCase()}M` : hour < 12 ? 'AM' : 'PM'
  if (!half && minutes === '00' && hour % 12 === 0) return hour === 0 ? 'midnight' : 'noon'
  const minute = minutes === '00' ? '' : ` ${minutes.replace(/^0/, 'oh ')}`
  return `${hour % 12 || 12}${minute} ${said}`
}

function sayRounded(number: string): string {
  const value = Number(number)
  const rounded = Number(value >= 1 ? value.toFixed(DECIMALS) : value.toPrecision(SMALL_DIGITS))
  // Never in exponential notation.
  const written = rounded.toLocaleString('en-US', { useGrouping: false, maximumFractionDigits: 12 })
  return rounded === value ? written : `about ${written}`
}

/** `21.5 degrees Celsius`; `1 watt`. */
function sayQuantity(whole: string, number = '', space = '', unit = ''): string {
  const said = data.units[unit.replace('μ', 'µ').replace(/\^?2/, '²').replace(/\^?3/, '³')]
  if (!said || (space === '' && data.unitsAfterSpace.includes(unit))) return whole
  return `${number} ${said[number === '1' ? 0 : 1]}`
}
