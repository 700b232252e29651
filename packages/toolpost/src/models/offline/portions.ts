import type { JsonSchema } from '../../schema/json-schema.ts'
import type { ReadNumber } from './numbers.ts'
import type { Word } from './words.ts'

/*
 * Parts of a whole: "half", "a quarter", "2/3", "0.5".
 */

const PORTIONS: Readonly<Record<string, number>> = {
  half: 0.5,
  'a half': 0.5,
  full: 1,
  maximum: 1,
  max: 1,
  'the maximum': 1,
  minimum: 0,
  'the minimum': 0,
  'a quarter': 0.25,
  'one quarter': 0.25,
  'three quarters': 0.75,
  quarter: 0.25,
  'a third': 1 / 3,
  'one third': 1 / 3,
  'two thirds': 2 / 3,
  'one half': 0.5,
  halfway: 0.5,
  'half way': 0.5,
  highest: 1,
  'the max': 1,
  'the highest': 1,
}

/** A fraction of a range, such as "half" or "2/3", read at `at`; `undefined` if the range is unbounded. */
export function portion(
  words: readonly Word[],
  at: number,
  [minimum, maximum]: readonly unknown[],
): ReadNumber | undefined {
  if (typeof minimum !== 'number' || typeof maximum !== 'number') return undefined
  for (const used of [2, 1]) {
    const said = words.slice(at, at + used).map(({ key }) => key)
    const share = said.length === used ? shareOf(said.join(' ')) : undefined
    if (share !== undefined) return { value: Math.round(minimum + share * (maximum - minimum)), used }
  }
  return undefined
}

function shareOf(said: string): number | undefined {
  const [, part, whole] = /^(\d{1,2})\/(\d{1,2})$/.exec(said) ?? []
  if (part === undefined) return Object.hasOwn(PORTIONS, said) ? PORTIONS[said] : undefined
  const share = Number(part) / Number(whole)
  return share <= 1 ? share : undefined
}

/** A number as a percentage, if the schema is for one: "0.5" is half of it, unless a percent sign follows. */
export function asPercentage(
  value: number,
  { type, minimum, maximum }: JsonSchema,
  isSigned: boolean,
): number {
  if (minimum !== 0 || maximum !== 100) return value
  if (!isSigned && value > 0 && value < 1) return Math.round(value * 100)
  return type === 'integer' ? Math.round(value) : value
}
