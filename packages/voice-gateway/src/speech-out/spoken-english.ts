import { readData } from '../data.ts'

/** A pattern, and what is said instead. */
interface Replacement {
  readonly find: string
  readonly flags: string
  readonly say: string
}

interface SpokenEnglish {
  readonly months: readonly string[]
  /** The spoken singular and plural. */
  readonly units: Readonly<Record<string, readonly [one: string, several: string]>>
  /** Units that could also end a name, as in "Zone 3A", count only after a space. */
  readonly unitsAfterSpace: readonly string[]
  readonly fractions: Readonly<Record<string, string>>
  readonly currencies: Readonly<Record<string, readonly [one: string, several: string]>>
  /** Applied before dates and times, between those and units, and at the end. */
  readonly first: readonly Replacement[]
  readonly numbers: readonly Replacement[]
  readonly last: readonly Replacement[]
}

type Rule = readonly [found: RegExp, instead: string | ((...parts: string[]) => string)]

const data = readData<SpokenEnglish>('spoken-english.json')
const MONTH = `(?:${data.months.flatMap(name => [name, name.slice(0, 3)]).join('|')}|Sept)`
const DAY = '(?:0?[1-9]|[12]\\d|3[01])'
const YEAR = '((?:19|20)\\d\\d)'
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
  [/\b(UTC|GMT)([+−-])0?(\d{1,2})(?::00)?(?![\d:])/g, sayOffset],
  [/(?<=\d:\d\d) ?[-–] ?(?=\d?\d:\d\d)/g, ' to '],
  [/(?<![\d:.])([01]?\d|2[0-4]):([0-5]\d)(?![\d:]|\.\d)(?: ?([ap])\.?m\b\.?)?/gi, sayTime],
  [
    new RegExp(`(?:(day),? )?(?<![\\d.,])(${DAY})\\.? (${MONTH})\\b\\.?(?:,? ${YEAR}(?!\\d))?`, 'g'),
    (_whole, weekday, day = '', month = '', year) =>
      `${weekday ? `${weekday} ` : ''}the ${ordinal(day)} of ${fullMonth(month)}${year ? ` ${sayYear(year)}` : ''}`,
  ],
  [
    new RegExp(`\\b(${MONTH})\\b\\.? (${DAY})(?:st|nd|rd|th)?(?:, ${YEAR})?(?! \\d|[:.]?\\d)`, 'g'),
    (_whole, month = '', day = '', year) =>
      `${fullMonth(month)} ${ordinal(day)}${year ? `, ${sayYear(year)}` : ''}`,
  ],
  [new RegExp(`(?<=\\b(?:in|since|until|${MONTH}) )${YEAR}(?!\\d|[.,:]\\d| ?[°%])`, 'g'), sayYear],
  [/(?<![\p{L}\d.,])(\d+(?:\.\d+)?)e([+-]?)(\d+)(?![\p{L}\d])/giu, sayPowerOfTen],
  [/(?<![\p{L}\d.,:-])(\d+\.\d{3,})(?![\d\p{L}]|[.,:]\d)/gu, sayRounded],
  [/(?<![\d/])(\d+)\/(\d+)(?![\d/])/g, sayFraction],
  [/(?<![\p{L}\p{N}])([$€£])(\d[\d,]*)(?:\.(\d\d))?(?!\d)/gu, sayMoney],
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

function sayOffset(_whole: string, zone = '', sign = '', hours = ''): string {
  return `${zone} ${sign === '+' ? 'plus' : 'minus'} ${hours}`
}

/** As two numbers, twenty twenty-six; 2000 to 2009 as one. */
function sayYear(year: string): string {
  const [century, rest] = [year.slice(0, 2), year.slice(2)]
  if (rest.startsWith('0') && century === '20') return year
  if (rest === '00') return `${century} hundred`
  return `${century} ${rest.replace(/^0/, 'oh ')}`
}

function fullMonth(name: string): string {
  return data.months.find(month => month.startsWith(name.slice(0, 3))) ?? name
}

function ordinal(day: string): string {
  const number = Number(day)
  const ending = number > 10 && number < 14 ? 'th' : (['th', 'st', 'nd', 'rd'][number % 10] ?? 'th')
  return `${number}${ending}`
}

function sayRounded(number: string): string {
  const value = Number(number)
  const rounded = Number(value >= 1 ? value.toFixed(DECIMALS) : value.toPrecision(SMALL_DIGITS))
  // Never in exponential notation.
  const written = rounded.toLocaleString('en-US', { useGrouping: false, maximumFractionDigits: 12 })
  return rounded === value ? written : `about ${written}`
}

function sayPowerOfTen(_whole: string, factor = '', sign = '', exponent = ''): string {
  const rounded = Number(Number(factor).toFixed(DECIMALS))
  const about = rounded === Number(factor) ? '' : 'about '
  return `${about}${rounded} times 10 to the power of ${sign === '-' ? 'minus ' : ''}${Number(exponent)}`
}

function sayFraction(whole: string, above = '', below = ''): string {
  return data.fractions[whole] ?? `${above} out of ${below}`
}

function sayMoney(_whole: string, sign = '', amount = '', hundredths?: string): string {
  const [one, several] = data.currencies[sign] ?? ['', '']
  const cents = hundredths && hundredths !== '00' ? ` ${Number(hundredths)}` : ''
  return `${amount} ${amount === '1' && !cents ? one : several}${cents}`
}

/** `21.5 degrees Celsius`; `1 watt`. */
function sayQuantity(whole: string, number = '', space = '', unit = ''): string {
  const said = data.units[unit.replace('μ', 'µ').replace(/\^?2/, '²').replace(/\^?3/, '³')]
  if (!said || (space === '' && data.unitsAfterSpace.includes(unit))) return whole
  return `${number} ${said[number === '1' ? 0 : 1]}`
}
