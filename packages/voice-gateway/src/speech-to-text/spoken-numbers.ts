import { readData } from '../data.ts'

interface English {
  readonly ones: readonly string[]
  readonly tens: readonly string[]
  readonly hundred: string
  readonly thousand: string
  readonly point: string
  readonly and: string
  readonly signs: Readonly<Record<string, string>>
  readonly contractions: Readonly<Record<string, string>>
}

export const ENGLISH = readData<English>('english.json')
const { ones, tens, hundred, thousand, point, and, signs } = ENGLISH
const LARGEST_IN_WORDS = 9_999
const WORD = /\d+|\p{L}+(?:'\p{L}+)*|[%°+&]/gu

/** The words of a text as spoken, in lower case, including figures and signs. */
export function saidWords(text: string): string[] {
  const plain = text
    .toLowerCase()
    .replaceAll('’', "'")
    .replaceAll(/(?<=\d)\.(?=\d)/g, ` ${point} `)
  const found = plain.match(WORD) ?? []
  return found.flatMap(word => signs[word] ?? (/^\d/.test(word) ? numberWords(word) : word))
}

/** Long numbers are spoken digit by digit. */
function numberWords(figures: string): string[] {
  const value = Number(figures)
  if (value > LARGEST_IN_WORDS || (figures.length > 1 && figures.startsWith('0')))
    return [...figures].map(digit => ones[Number(digit)] ?? digit)
  return below10000(value)
}

function below10000(value: number): string[] {
  const rest = (left: number) => (left === 0 ? [] : below10000(left))
  if (value < 20) return [ones[value] ?? '']
  if (value < 100) return [tens[Math.floor(value / 10) - 2] ?? '', ...rest(value % 10)]
  if (value < 1_000) return [...below10000(Math.floor(value / 100)), hundred, ...rest(value % 100)]
  return [...below10000(Math.floor(value / 1_000)), thousand, ...rest(value % 1_000)]
}

/** A number in the middle of being spoken. */
export interface NumberSoFar {
  figures: string
  value: number
  /** What may follow: a digit after "twenty", "hundred" after a digit, anything below a hundred after "hundred", "point". */
  may: 'digit' | 'hundred' | 'rest' | 'point' | 'decimal' | 'nothing'
}

/** The number extended by a word; `undefined` if the word does not continue it. */
export function nextNumber(so: NumberSoFar | undefined, word: string): NumberSoFar | undefined {
  const small = ones.indexOf(word)
  const round = tens.indexOf(word)
  const number = (value: number, may: NumberSoFar['may']) => ({ figures: String(value), value, may })
  if (so === undefined) {
    if (small >= 0) return number(small, small > 0 && small < 10 ? 'hundred' : 'point')
    return round >= 0 ? number(20 + 10 * round, 'digit') : undefined
  }
  const { value, may } = so
  if (may === 'decimal')
    return small >= 0 && small < 10 ? { figures: `${so.figures}${small}`, value, may: 'nothing' } : undefined
  if (word === point && may !== 'nothing') return { figures: `${value}.`, value, may: 'decimal' }
  if (may === 'hundred' && word === hundred) return number(value * 100, 'rest')
  if (may === 'rest' && word === and) return { ...so, figures: '' }
  if (may === 'digit' && small > 0 && small < 10) return number(value + small, 'point')
  const rest = may === 'rest' ? nextNumber(undefined, word) : undefined
  return rest && number(value + rest.value, rest.may === 'hundred' ? 'point' : rest.may)
}
