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

/** "Kitchen's" is the kitchen, and "café" is written "cafe" by whoever has no é. */
export function plain(key: string): string {
  return unaccented(key).replace(/'s?$/, '')
}

/** Without the marks on Latin letters. */
export function unaccented(word: string): string {
  return /^[\u0020-\u007e]*$/.test(word)
    ? word
    : word
        .normalize('NFD')
        .replaceAll(/[\u0300-\u036f]/g, '')
        .normalize('NFC')
}
