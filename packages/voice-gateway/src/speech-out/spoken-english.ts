import { QUANTITY, sayQuantity } from './units.ts'

const MONTH =
  '(?:January|February|March|April|May|June|July|August|September|October|November|December|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)'
const MONTHS = 'January February March April May June July August September October November December'.split(
  ' ',
)
const DAY = '(?:0?[1-9]|[12]\\d|3[01])'
const YEAR = '((?:19|20)\\d\\d)'
/** A number that is not part of a longer one, a version or an address. */
const BEFORE_NUMBER = '(?<![\\p{L}\\d.,:-])'
const AFTER_NUMBER = '(?![\\d\\p{L}]|[.,:]\\d)'

type Rule = readonly [found: RegExp, instead: string | ((...parts: string[]) => string)]

/** Applied in order. A run is matched only from its beginning, as in `speakable`. */
const RULES: readonly Rule[] = [
  // Ellipses: in an example of what to say, or where a text was cut.
  [/(?<=["“ ])(?:…|\.\.\.)(?=["” ,?])/g, 'something'],
  [/(?<=[\p{L}\p{N}])(?:…|\.\.\.)$/u, ', and so on'],
  [/…+|\.{3,}/g, ', '],
  // Dates and times.
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
  // Numbers.
  [/(?<![\p{L}\d.,])(\d+(?:\.\d+)?)e([+-]?)(\d+)(?![\p{L}\d])/giu, sayPowerOfTen],
  [new RegExp(`${BEFORE_NUMBER}(\\d+\\.\\d{3,})${AFTER_NUMBER}`, 'gu'), sayRounded],
  [/(?<![\p{L}\p{N})\]/.-])[-−](?=\.?\d)/gu, 'minus '],
  [/(?<![\p{L}\p{N}.])\+(?=\d)/gu, 'plus '],
  [/(?<=[\d°%CF])\s?–\s?(?=\d)/g, ' to '],
  [/(?<=\d)x(?![\p{L}\p{N}])/gu, ' times'],
  [/(?<![\d/])(\d+)\/(\d+)(?![\d/])/g, sayFraction],
  [/(?<![\p{L}\p{N}])([$€£])(\d[\d,]*)(?:\.(\d\d))?(?!\d)/gu, sayMoney],
  [/(?<=\d) ?€/g, ' euros'],
  [/(?<![\p{L}\p{N}])#(?=\d)/gu, 'number '],
  [/[~≈] ?(?=\d)/g, 'about '],
  [QUANTITY, sayQuantity],
  [/(?<=\p{L})\/(?=(?:second|minute|hour|day|week|month|year|person|night|kilometre|litre)\b)/gu, ' per '],
  [/(?<=\d)°/g, ' degrees'],
  // Signs.
  [/(?<=\d) ?\+ ?(?=\d)/g, ' plus '],
  [/(?<=[\p{L}\p{N}]) ?\+$/u, ' plus'],
  [/(?<=[\p{L}\p{N})]) ?= ?(?=[\p{L}\p{N}(-])/gu, ' equals '],
  [/(?<=[\p{L}\p{N}]) ?(?:≤|<=) ?(?=[\p{L}\p{N}])/gu, ' is at most '],
  [/(?<=[\p{L}\p{N}]) ?(?:≥|>=) ?(?=[\p{L}\p{N}])/gu, ' is at least '],
  [/(?<=[\p{L}\p{N}]) ?< ?(?=[\p{L}\p{N}])/gu, ' is less than '],
  [/(?<=[\p{L}\p{N}]) ?> ?(?=[\p{L}\p{N}])/gu, ' is more than '],
  [/(?<=[\p{L}\p{N}]) ?& ?(?=[\p{L}\p{N}])/gu, ' and '],
  [/ [›»·|] /g, ', '],
  // Abbreviations.
  [/\bn\/a\b/gi, 'not available'],
  [/\band\/or\b/gi, 'or'],
  [/(?<![\p{L}\p{N}/.])(\p{L}{2,})\/(\p{L}{2,})(?![\p{L}\p{N}/]|\.\p{L})/gu, '$1 or $2'],
  [/\be\.g\.,?/gi, 'for example'],
  [/\bi\.e\.,?/gi, 'that is'],
  [/,? ?\betc\b\.?/gi, ' and so on'],
  [/\b(?:approx|ca)\. ?/gi, 'about '],
  [/\bvs\b\.?/gi, 'versus'],
  [/\bw\/o\b/gi, 'without'],
  [/\bw\/ ?(?=\p{L})/giu, 'with '],
  [/\b(?:No|Nr)\. ?(?=\d)/g, 'number '],
  [/\bincl\./gi, 'including'],
  [/\bmax\.(?= )/gi, 'at most'],
  [/\bLEDs?\b/g, led => (led === 'LED' ? 'L E D' : 'L E Ds')],
  [/\bCO(?:2\b|₂)/g, 'C O 2'],
  [/ {2,}/g, ' '],
  [/ (?=[,.;:!?](?: |$))|^, /g, ''],
]

/**
 * A sentence as a person would say it: numbers, units, times, dates and abbreviations in words, wherever a voice would
 * spell them out, misread them or skip them. Plain figures stay: every voice can say those.
 */
export function spokenEnglish(sentence: string): string {
  return RULES.reduce((rest, [found, instead]) => rest.replace(found, instead as string), sentence).trim()
}

function sayIsoDate(whole: string, year = '', month = '', day = ''): string {
  const name = MONTHS[Number(month) - 1]
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
  if (rest === '00') return century === '20' ? year : `${century} hundred`
  if (rest.startsWith('0')) return century === '20' ? year : `${century} oh ${rest.slice(1)}`
  return `${century} ${rest}`
}

function fullMonth(name: string): string {
  return MONTHS.find(month => month.startsWith(name.slice(0, 3))) ?? name
}

function ordinal(day: string): string {
  const number = Number(day)
  const ending = number > 10 && number < 14 ? 'th' : (['th', 'st', 'nd', 'rd'][number % 10] ?? 'th')
  return `${number}${ending}`
}

const SHOWN_DIGITS = 3

/** Nobody says more than three digits after the decimal point, or after the zeros that follow it. */
function sayRounded(number: string): string {
  const value = Number(number)
  const decimals = value >= 1 ? 2 : SHOWN_DIGITS
  const rounded = value >= 1 ? Number(value.toFixed(decimals)) : Number(value.toPrecision(decimals))
  if (rounded === value) return written(rounded)
  return `about ${written(rounded)}`
}

/** Never in exponential notation. */
function written(value: number): string {
  return value.toLocaleString('en-US', { useGrouping: false, maximumFractionDigits: 12 })
}

function sayPowerOfTen(_whole: string, factor = '', sign = '', exponent = ''): string {
  const rounded = Number(Number(factor).toFixed(2))
  const about = rounded === Number(factor) ? '' : 'about '
  return `${about}${rounded} times 10 to the power of ${sign === '-' ? 'minus ' : ''}${Number(exponent)}`
}

const FRACTIONS: Readonly<Record<string, string>> = {
  '24/7': '24 7',
  '1/2': 'one half',
  '1/3': 'one third',
  '2/3': 'two thirds',
  '1/4': 'one quarter',
  '3/4': 'three quarters',
}

function sayFraction(whole: string, above = '', below = ''): string {
  return FRACTIONS[whole] ?? `${above} out of ${below}`
}

const CURRENCIES: Readonly<Record<string, readonly [one: string, several: string]>> = {
  $: ['dollar', 'dollars'],
  '€': ['euro', 'euros'],
  '£': ['pound', 'pounds'],
}

function sayMoney(_whole: string, sign = '', amount = '', hundredths?: string): string {
  const [one, several] = CURRENCIES[sign] ?? ['', '']
  const cents = hundredths && hundredths !== '00' ? ` ${Number(hundredths)}` : ''
  return `${amount} ${amount === '1' && !cents ? one : several}${cents}`
}
