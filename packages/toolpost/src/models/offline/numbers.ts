import type { Word } from './words.ts'

export interface ReadNumber {
  value: number
  /** How many words it took. */
  used: number
}

const SMALL = new Map(
  `zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
  eighteen nineteen`
    .split(/\s+/)
    .map((word, value) => [word, value]),
)
const TENS = new Map(
  'twenty thirty forty fifty sixty seventy eighty ninety'
    .split(' ')
    .map((word, index) => [word, (index + 2) * 10]),
)
const SCALES = new Map([
  ['hundred', 100],
  ['thousand', 1_000],
  ['million', 1_000_000],
])

/** All number words. */
export const NUMBER_WORDS: readonly string[] = [...SMALL.keys(), ...TENS.keys(), ...SCALES.keys()]

/** The number that starts at `at`, in digits (`30`, `-2.5`, `.5`) or words (`two hundred and five`), if there is one. */
export function readNumber(words: readonly Word[], at: number): ReadNumber | undefined {
  const key = words[at]?.key
  if (key === undefined) return undefined
  if (key === '-' || key === 'minus') {
    const positive = readNumber(words, at + 1)
    return positive && positive.value >= 0 ? { value: -positive.value, used: positive.used + 1 } : undefined
  }
  const isFigure = /^(?:\d+(,\d{3})*(\.\d+)?|\.\d+)$/.test(key)
  const number = isFigure ? { value: Number(key.replaceAll(',', '')), used: 1 } : readNumberWords(words, at)
  return number && withHalf(words, at, isFigure ? number : withDecimals(words, at, number))
}

/** "nineteen and a half" */
function withHalf(words: readonly Word[], at: number, { value, used }: ReadNumber): ReadNumber {
  const isHalf = ['and', 'a', 'half'].every((key, k) => words[at + used + k]?.key === key)
  return isHalf ? { value: value + 0.5, used: used + 3 } : { value, used }
}

/** "twenty one point five" */
function withDecimals(words: readonly Word[], at: number, number: ReadNumber): ReadNumber {
  let digits = ''
  const start = at + number.used + 1
  if (words[start - 1]?.key !== 'point') return number
  for (let next = start; digits.length < 3; next++) {
    const key = words[next]?.key ?? ''
    const digit = /^\d$/.test(key) ? Number(key) : SMALL.get(key)
    if (digit === undefined || digit > 9) break
    digits += digit
  }
  if (digits === '') return number
  return { value: Number(`${number.value}.${digits}`), used: number.used + 1 + digits.length }
}

function readNumberWords(words: readonly Word[], at: number): ReadNumber | undefined {
  let total = 0
  let part: number | undefined
  let used = 0
  let before: 'small' | 'tens' | 'scale' | undefined
  for (let next = at; next < words.length; next++) {
    const key = words[next]?.key ?? ''
    const after = words[next + 1]?.key ?? ''
    if (key === 'and' && before === 'scale' && startsSmall(after)) continue
    const step = stepOf(key, before, at === next && SCALES.has(after))
    if (!step) break
    if (step.kind !== 'scale') part = (part ?? 0) + step.value
    else if (step.value === 100) part = (part ?? 1) * 100
    else {
      total += (part ?? 1) * step.value
      part = undefined
    }
    before = step.ends ?? step.kind
    used = next - at + 1
  }
  return used > 0 ? { value: total + (part ?? 0), used } : undefined
}

interface Step {
  kind: 'small' | 'tens' | 'scale'
  value: number
  /** `twenty-one` starts as tens and ends as a small number. */
  ends?: 'small'
}

/** What a word adds to a number, if it may follow `before`. */
function stepOf(key: string, before: Step['kind'] | undefined, opensScale: boolean): Step | undefined {
  const scale = SCALES.get(key)
  if (scale !== undefined && before !== undefined) return { kind: 'scale', value: scale }
  if (key === 'a' && before === undefined && opensScale) return { kind: 'small', value: 1 }
  if (before === 'small') return undefined
  const small = SMALL.get(key)
  if (small !== undefined)
    return before === 'tens' && (small === 0 || small > 9) ? undefined : { kind: 'small', value: small }
  const [first = '', last] = key.split('-')
  const tens = before === 'tens' ? undefined : TENS.get(first)
  if (tens === undefined) return undefined
  if (last === undefined) return { kind: 'tens', value: tens }
  const ones = SMALL.get(last)
  return ones === undefined ? undefined : { kind: 'tens', value: tens + ones, ends: 'small' }
}

function startsSmall(key: string): boolean {
  const [first = ''] = key.split('-')
  return SMALL.has(first) || TENS.has(first)
}

const SMALL_WORDS = [...SMALL.keys()]
const TENS_WORDS = [...TENS.keys()]

/** A whole number from 0 to 9,999 as spoken: `twenty one`. */
export function numberInWords(value: number): string[] {
  if (value < 20) return [SMALL_WORDS[value] ?? '']
  if (value < 100) {
    const tens = TENS_WORDS[Math.floor(value / 10) - 2] ?? ''
    return value % 10 === 0 ? [tens] : [tens, ...numberInWords(value % 10)]
  }
  const [scale, word] = value < 1_000 ? [100, 'hundred'] : [1_000, 'thousand']
  const rest = value % scale
  return [...numberInWords(Math.floor(value / scale)), word, ...(rest === 0 ? [] : numberInWords(rest))]
}
