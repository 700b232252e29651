import type { Word } from './words.ts'

export interface ReadNumber {
  value: number
  /** How many words it took. */
  used: number
}

const SMALL: Readonly<Record<string, number>> = Object.fromEntries(
  (
    'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen ' +
    'seventeen eighteen nineteen'
  )
    .split(' ')
    .map((word, value) => [word, value]),
)
const TENS: Readonly<Record<string, number>> = Object.fromEntries(
  'twenty thirty forty fifty sixty seventy eighty ninety'
    .split(' ')
    .map((word, index) => [word, (index + 2) * 10]),
)
const SCALES: Readonly<Record<string, number>> = { hundred: 100, thousand: 1_000, million: 1_000_000 }

/** The number that starts at a place, in figures (`30`, `-2.5`) or in words (`two hundred and five`), if there is one. */
export function readNumber(words: readonly Word[], at: number): ReadNumber | undefined {
  const key = words[at]?.key
  if (key === undefined) return undefined
  if (key === '-' || key === 'minus') {
    const positive = readNumber(words, at + 1)
    return positive && positive.value >= 0 ? { value: -positive.value, used: positive.used + 1 } : undefined
  }
  if (/^\d+(,\d{3})*(\.\d+)?$/.test(key)) return { value: Number(key.replaceAll(',', '')), used: 1 }
  return readNumberWords(words, at)
}

function readNumberWords(words: readonly Word[], at: number): ReadNumber | undefined {
  let total = 0
  let part: number | undefined
  let used = 0
  let before: 'small' | 'tens' | 'scale' | undefined
  for (let next = at; next < words.length; next++) {
    const key = words[next]?.key ?? ''
    const isJoint = key === 'and' && before === 'scale' && startsSmall(words[next + 1]?.key)
    if (isJoint) continue
    const step = stepOf(key, before, at === next && isScale(words[next + 1]?.key))
    if (!step) break
    if (step.kind === 'scale') {
      if (step.value === 100) part = (part ?? 1) * 100
      else {
        total += (part ?? 1) * step.value
        part = undefined
      }
    } else part = (part ?? 0) + step.value
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

/** What a word adds to a number, if it may follow what was `before`. */
function stepOf(key: string, before: Step['kind'] | undefined, opensScale: boolean): Step | undefined {
  if (Object.hasOwn(SCALES, key) && before !== undefined)
    return { kind: 'scale', value: SCALES[key] as number }
  if (key === 'a' && before === undefined && opensScale) return { kind: 'small', value: 1 }
  const [tens = '', small] = key.split('-')
  const isSmallAllowed = before !== 'small'
  if (Object.hasOwn(TENS, tens) && before !== 'small' && before !== 'tens') {
    if (small === undefined) return { kind: 'tens', value: TENS[tens] as number }
    if (Object.hasOwn(SMALL, small))
      return { kind: 'tens', value: (TENS[tens] as number) + (SMALL[small] as number), ends: 'small' }
  }
  if (!Object.hasOwn(SMALL, key) || !isSmallAllowed) return undefined
  const value = SMALL[key] as number
  return before === 'tens' && (value === 0 || value > 9) ? undefined : { kind: 'small', value }
}

function isScale(key: string | undefined): boolean {
  return key !== undefined && Object.hasOwn(SCALES, key)
}

function startsSmall(key: string | undefined): boolean {
  const [first = ''] = (key ?? '').split('-')
  return Object.hasOwn(SMALL, first) || Object.hasOwn(TENS, first)
}
