import { readNumber } from './numbers.ts'
import { type Word, wordSet } from './words.ts'

/** Words for signs, longest first. */
const SIGNS: readonly (readonly [readonly string[], string])[] = (
  [
    ['to the power of', '^'],
    ['the square root of', 'sqrt '],
    ['square root of', 'sqrt '],
    ['multiplied by', '*'],
    ['divided by', '/'],
    ['half of', '0.5 *'],
    ['per cent of', '% of'],
    ['percent of', '% of'],
    ['plus', '+'],
    ['x', '*'],
    ['minus', '-'],
    ['times', '*'],
    ['over', '/'],
    ['squared', '^ 2'],
    ['cubed', '^ 3'],
    ['percent', '%'],
  ] as const
).map(([phrase, sign]) => [phrase.split(' '), sign])

const FUNCTIONS = wordSet(
  'sqrt sin cos tan asin acos atan log log2 log10 ln exp abs round floor ceil mean median sum max min mod pi e of factorial',
)
const FORMULA = /^[\d.,:+\-*/^%()=!]+$/
/** "How many grams in *a* pound". */
const ONE = new Set(['a', 'an'])
const TURNED_CONVERSION =
  /^([\p{L}°]+) (?:in|is|are|are in|are there in|is there in|make) (-?[\d.]+) ([\p{L}°]+)$/u
const UNIT_CONVERSION = /^(-?[\d.]+) ([\p{L}°]+) (?:to|in|into|as) ([\p{L}°]+)$/u

/**
 * A calculation in `math_eval` syntax, if the words are nothing else: digits or number words, operators or their
 * names, known functions, or a unit conversion. `text` is the original text of the words.
 */
export function readCalculation(words: readonly Word[], text: string): string | undefined {
  return readSigns(words, text) ?? verbFirst(words)
}

/** Verb first, then the operands: "add 3 and 4", "subtract 3 from 10". */
const VERBS: Readonly<Record<string, { joints: readonly string[]; sign: string; isTurned?: boolean }>> = {
  add: { joints: ['and', 'to'], sign: '+' },
  multiply: { joints: ['by', 'with', 'and'], sign: '*' },
  divide: { joints: ['by'], sign: '/' },
  subtract: { joints: ['from'], sign: '-', isTurned: true },
}

function verbFirst([verb, ...words]: readonly Word[]): string | undefined {
  const { joints, sign, isTurned } = VERBS[verb?.key ?? ''] ?? { joints: [], sign: '' }
  const first = readNumber(words, 0)
  if (!first || !joints.includes(words[first.used]?.key ?? '')) return undefined
  const second = readNumber(words, first.used + 1)
  if (!second || first.used + 1 + second.used !== words.length) return undefined
  const [left, right] = isTurned ? [second, first] : [first, second]
  return `${left.value} ${sign} ${right.value}`
}

function readSigns(words: readonly Word[], text: string): string | undefined {
  const pieces: string[] = []
  let isConverted = false
  for (let at = 0; at < words.length; ) {
    const step = readThousands(words, at, text) ?? readStep(words, at)
    if (!step) return conversionOf(words)
    pieces.push(step.piece)
    if (step.isConverted) isConverted = true
    at += step.used
  }
  // Numbers in a row are counting, not a calculation.
  if (pieces.some((piece, at) => isFigure(piece) && isFigure(pieces[at + 1]))) return undefined
  const expression = isConverted ? written(pieces) : text
  // Only the second half of a calculation.
  if (/^[+*/^]/.test(expression)) return undefined
  return /\d/.test(expression) || /^(pi|e)$/.test(expression) ? expression : undefined
}

function isFigure(piece: string | undefined): boolean {
  return piece !== undefined && /^[\d.,]+$/.test(piece)
}

interface Step {
  piece: string
  used: number
  /** Whether the piece differs from what was said. */
  isConverted: boolean
}

/** `1,000` is one number, unless it could be two arguments of a function. */
function readThousands(words: readonly Word[], at: number, text: string): Step | undefined {
  const key = words[at]?.key ?? ''
  if (!/\d,\d/.test(key) || text.includes('(')) return undefined
  return { piece: key.replaceAll(',', ''), used: 1, isConverted: true }
}

function readStep(words: readonly Word[], at: number): Step | undefined {
  const key = words[at]?.key ?? ''
  if (/^[\d.]+x[\d.]+$/.test(key)) return { piece: key.replace('x', ' * '), used: 1, isConverted: true }
  if (FORMULA.test(key) || FUNCTIONS.has(key)) return { piece: key, used: 1, isConverted: false }
  for (const [phrase, sign] of SIGNS) {
    if (phrase.every((word, offset) => words[at + offset]?.key === word))
      return { piece: sign, used: phrase.length, isConverted: true }
  }
  const number = readNumber(words, at)
  return number && { piece: String(number.value), used: number.used, isConverted: true }
}

/** Joins the pieces; `sqrt ` wraps the one after it in brackets. */
function written(pieces: readonly string[]): string {
  return pieces
    .join(' ')
    .replace(/sqrt {2}(\S+)/g, 'sqrt($1)')
    .trim()
}

/** `cm in 5 inches` as `5 inches to cm`; only after "how many". */
export function readCount(words: readonly Word[]): string | undefined {
  const at = words.findIndex(({ key }, place) => ONE.has(key) || readNumber(words, place) !== undefined)
  const number = at < 0 ? undefined : (readNumber(words, at) ?? { value: 1, used: 1 })
  if (!number) return undefined
  const [before, after] = [words.slice(0, at), words.slice(at + number.used)].map(said =>
    said.map(({ key }) => key).join(' '),
  )
  const [, to, value, from] = TURNED_CONVERSION.exec(`${before} ${number.value} ${after}`) ?? []
  return value && from && to ? `${value} ${from} to ${to}` : undefined
}

/** `5 inches in cm` as `5 inches to cm`. */
function conversionOf(words: readonly Word[]): string | undefined {
  const number = readNumber(words, 0)
  if (!number) return undefined
  const rest = words.slice(number.used).map(word => word.key)
  const [, value, from, to] = UNIT_CONVERSION.exec([number.value, ...rest].join(' ')) ?? []
  return value && from && to ? `${value} ${from} to ${to}` : undefined
}
