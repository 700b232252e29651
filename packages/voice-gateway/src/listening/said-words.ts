export const ONES =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
    ' ',
  )
export const TENS = 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ')
export const NUMBER_WORDS: readonly string[] = [...ONES, ...TENS, 'hundred']
const SIGNS = new Map([
  ['%', 'percent'],
  ['°', 'degrees'],
  ['+', 'plus'],
  ['&', 'and'],
])
const LARGEST_IN_WORDS = 9_999
const WORD = /\d+|\p{L}+(?:'\p{L}+)*|[%°+&]/gu

/** The words of a text as spoken, in lower case, including figures and signs. */
export function saidWords(text: string): string[] {
  const found = text.toLowerCase().replaceAll('’', "'").match(WORD) ?? []
  return found.flatMap(word => SIGNS.get(word) ?? (/^\d/.test(word) ? numberWords(word) : word))
}

/** Long numbers are spoken digit by digit. */
function numberWords(figures: string): string[] {
  const value = Number(figures)
  if (value > LARGEST_IN_WORDS || (figures.length > 1 && figures.startsWith('0')))
    return [...figures].map(digit => ONES[Number(digit)] ?? digit)
  return below10000(value)
}

function below10000(value: number): string[] {
  if (value < 20) return [ONES[value] ?? '']
  if (value < 100) return [TENS[Math.floor(value / 10) - 2] ?? '', ...rest(value % 10)]
  if (value < 1_000) return [...below10000(Math.floor(value / 100)), 'hundred', ...rest(value % 100)]
  return [...below10000(Math.floor(value / 1_000)), 'thousand', ...rest(value % 1_000)]
}

function rest(value: number): string[] {
  return value === 0 ? [] : below10000(value)
}
