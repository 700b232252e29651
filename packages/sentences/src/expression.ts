import type { NumberReader } from './numbers.ts'
import { Phrases } from './numbers.ts'
import type { Token } from './text.ts'

/** How calculations are said: `plus: '+'`, `square root of: 'sqrt('`, `squared: '^ 2'`. */
export type ExpressionWords = Readonly<Record<string, string>>

const SYMBOLS = new Set(['+', '-', '*', '/', '^', '(', ')', '%', 'x'])
const FUNCTION = /^[a-z][a-z0-9]*$/

/** Every calculation that starts at a token, in symbols. At least one operator, and brackets that match. */
export function readExpression(
  tokens: readonly Token[],
  pos: number,
  words: ExpressionWords,
  numbers: NumberReader,
): { end: number; value: string }[] {
  const phrases = phrasesOf(words)
  const found: { end: number; value: string }[] = []
  let text = ''
  let operators = 0
  let open = 0
  let wantsValue = true
  for (let at = pos; at < tokens.length; ) {
    const key = tokens[at]?.key ?? ''
    const said = phrases.at(tokens, at).at(-1)
    const number = wantsValue
      ? numbers
          .at(tokens, at)
          .filter(({ isPart }) => !isPart || /^[\d.]/.test(key))
          .at(-1)
      : undefined
    if (number && !said) {
      text += ` ${/^[\d./]+$/.test(key) && number.end === at + 1 ? key.replace(/^(\d+)\/(\d+)$/, '$1 / $2') : number.value}`
      wantsValue = false
      at = number.end
    } else if (said && (said.value.endsWith('(') || said.value.startsWith('0')) && wantsValue) {
      text += ` ${said.value}`
      operators++
      if (said.value.endsWith('(')) open++
      at = said.end
    } else if (said && !wantsValue) {
      text += ` ${said.value}`
      operators++
      wantsValue = !/\d$|%$/.test(said.value)
      at = said.end
    } else if (
      wantsValue &&
      (key === '(' || (key === '-' && at === pos) || (FUNCTION.test(key) && tokens[at + 1]?.key === '('))
    ) {
      text += key === '(' || key === '-' ? ` ${key}` : ` ${key}(`
      if (key !== '-') open++
      if (key !== '(' && key !== '-') operators++
      at += key === '(' || key === '-' ? 1 : 2
    } else if (!wantsValue && SYMBOLS.has(key) && key !== '(') {
      if (key === ')') open--
      else operators++
      if (open < 0) return found
      text += key === ')' ? ')' : ` ${key === 'x' ? '*' : key}`
      wantsValue = key !== ')' && key !== '%'
      at++
    } else break
    // A function that was said takes the number after it.
    if (!wantsValue && open > 0 && said === undefined && number && /\($/.test(text.replace(/ \S+$/, ''))) {
      text += ')'
      open--
    }
    if (!wantsValue && operators > 0 && open === 0) found.push({ end: at, value: tidy(text) })
  }
  return found
}

function tidy(text: string): string {
  return text.trim().replace(/\( /g, '(').replace(/ \)/g, ')')
}

const KNOWN = new WeakMap<ExpressionWords, Phrases<string>>()

function phrasesOf(words: ExpressionWords): Phrases<string> {
  let phrases = KNOWN.get(words)
  if (!phrases) {
    const longest = Object.entries(words).sort(([one], [other]) => one.length - other.length)
    phrases = new Phrases(longest)
    KNOWN.set(words, phrases)
  }
  return phrases
}
