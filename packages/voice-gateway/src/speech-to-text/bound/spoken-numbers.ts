import { ONES, TENS } from '../../listening/said-words.ts'

const SMALL = new Map(ONES.map((word, value) => [word, value]))
const ROUND = new Map(TENS.map((word, index) => [word, 20 + 10 * index]))
const DIGITS_AFTER_POINT = 1

/** A number in the middle of being spoken. */
export interface NumberSoFar {
  figures: string
  /** What may follow: a digit after "twenty", "hundred" after a digit, anything below a hundred after "hundred", "point". */
  may: 'digit' | 'hundred' | 'rest' | 'point' | 'decimal' | 'nothing'
  value: number
}

/** The number extended by a word; `undefined` if the word does not continue it. */
export function nextNumber(so: NumberSoFar | undefined, word: string): NumberSoFar | undefined {
  if (so === undefined) return firstNumber(word)
  const { value, may } = so
  if (word === 'point' && may !== 'decimal' && may !== 'nothing')
    return { figures: `${value}.`, value, may: 'decimal' }
  if (may === 'decimal') return decimal(so, word)
  if (may === 'hundred' && word === 'hundred') return number(value * 100, 'rest')
  if (may === 'rest' && word === 'and') return { ...so, figures: '' }
  if (may === 'rest') return below(value, firstNumber(word))
  const digit = SMALL.get(word)
  if (may === 'digit' && digit !== undefined && digit > 0 && digit < 10) return number(value + digit, 'point')
  return undefined
}

function firstNumber(word: string): NumberSoFar | undefined {
  const small = SMALL.get(word)
  if (small !== undefined) return number(small, small > 0 && small < 10 ? 'hundred' : 'point')
  const round = ROUND.get(word)
  return round === undefined ? undefined : number(round, 'digit')
}

function below(hundreds: number, rest: NumberSoFar | undefined): NumberSoFar | undefined {
  if (!rest) return undefined
  return number(hundreds + rest.value, rest.may === 'hundred' ? 'point' : rest.may)
}

function decimal(so: NumberSoFar, word: string): NumberSoFar | undefined {
  const digit = SMALL.get(word)
  const places = so.figures.length - so.figures.indexOf('.')
  if (digit === undefined || digit > 9 || places > DIGITS_AFTER_POINT) return undefined
  return { figures: `${so.figures}${digit}`, value: so.value, may: 'nothing' }
}

function number(value: number, may: NumberSoFar['may']): NumberSoFar {
  return { figures: String(value), value, may }
}
