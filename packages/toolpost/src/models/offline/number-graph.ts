import type { JsonSchema } from '../../schema/json-schema.ts'
import type { Home } from './home/home.ts'
import { numberInWords } from './numbers.ts'

/** A range of whole numbers, inclusive. */
interface Limits {
  least: number
  most: number
}

/** Levels spoken without a number. */
export const SHARES: readonly string[][] = [
  'half',
  'a quarter',
  'three quarters',
  'full',
  'maximum',
  'minimum',
].map(share => share.split(' '))

/** From 0 to 100, as far as the schema allows. */
export function limitsOf({ minimum = 0, maximum = 100 }: JsonSchema): Limits {
  return { least: Math.max(0, Math.ceil(Number(minimum))), most: Math.min(100, Math.floor(Number(maximum))) }
}

export function wholeNumbers({ least, most }: Limits): string[][] {
  return Array.from({ length: Math.max(0, most - least + 1) }, (_, at) => numberInWords(least + at))
}

const CELSIUS: Limits = { least: 4, most: 35 }
const FAHRENHEIT: Limits = { least: 40, most: 99 }

/** The temperatures a room may be set to, in halves: nobody means eighty degrees Celsius. */
export function temperatures(home: Home | undefined): string[][] {
  const isFahrenheit = home?.devices.some(({ state = '' }) => state.includes('°F'))
  return wholeNumbers(isFahrenheit ? FAHRENHEIT : CELSIUS).flatMap(words => [
    words,
    [...words, 'point', 'five'],
    [...words, 'and', 'a', 'half'],
  ])
}
