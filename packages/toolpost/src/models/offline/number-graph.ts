import type { JsonSchema } from '../../schema/json-schema.ts'
import type { Home } from './home/home.ts'
import { numberInWords } from './numbers.ts'

/** Whole numbers from one to another, both included. */
interface Limits {
  least: number
  most: number
}

/** Levels that are said without a number. */
export const SHARES: readonly string[][] = [
  'half',
  'a quarter',
  'three quarters',
  'full',
  'maximum',
  'minimum',
].map(share => share.split(' '))

/** From 0 to 100, as far as a schema allows them. */
export function limitsOf({ minimum = 0, maximum = 100 }: JsonSchema): Limits {
  return { least: Math.max(0, Math.ceil(Number(minimum))), most: Math.min(100, Math.floor(Number(maximum))) }
}

export function wholeNumbers({ least, most }: Limits): string[][] {
  return Array.from({ length: Math.max(0, most - least + 1) }, (_, at) => numberInWords(least + at))
}

const CELSIUS: Limits = { least: 4, most: 35 }
const FAHRENHEIT: Limits = { least: 40, most: 99 }

/** What a room may be set to, with halves: nobody means eighty degrees where degrees are Celsius. */
export function temperatures(home: Home | undefined): string[][] {
  const isFahrenheit = home?.devices.some(({ state = '' }) => state.includes('°F'))
  return wholeNumbers(isFahrenheit ? FAHRENHEIT : CELSIUS).flatMap(words => [
    words,
    [...words, 'point', 'five'],
    [...words, 'and', 'a', 'half'],
  ])
}
