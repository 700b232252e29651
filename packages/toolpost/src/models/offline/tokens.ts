import { readNumber } from './numbers.ts'
import { wordsOf } from './words.ts'

/** A name as it is compared: words in lower case, numbers in figures, whatever stands between them left out. */
export function nameTokens(name: string): string[] {
  const words = wordsOf(name.normalize('NFKC').replaceAll(/[_/-]+/g, ' '))
  const tokens: string[] = []
  for (let at = 0; at < words.length; ) {
    const number = readNumber(words, at)
    const isNumber = number !== undefined && number.value >= 0
    tokens.push(isNumber ? String(number.value) : plain(words[at]?.key ?? ''))
    at += isNumber ? number.used : 1
  }
  return tokens
}

/** "Kitchen's" is the kitchen. */
export function plain(key: string): string {
  return key.replace(/'s?$/, '')
}
