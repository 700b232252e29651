import { readNumber } from './numbers.ts'
import { keysIn, unplaced, wordsOf } from './words.ts'

const known = new Map<string, readonly string[]>()
const MAX_KNOWN = 5_000

/** A name as it is compared: lower-case words and numbers in digits, without punctuation. Cached. */
export function nameTokens(name: string): readonly string[] {
  const before = known.get(name)
  if (before) return before
  const tokens = readTokens(name)
  if (known.size >= MAX_KNOWN) known.clear()
  known.set(name, tokens)
  return tokens
}

/** Names without initials, accents or punctuation: the common case, and faster to split. */
const PLAIN = /^(?:[a-z]{2,}|\d+)(?: (?:[a-z]{2,}|\d+))*$/

function readTokens(name: string): string[] {
  const lower = name.toLowerCase()
  const words = PLAIN.test(lower)
    ? keysIn(lower).map(unplaced)
    : wordsOf(withInitials(name.normalize('NFKC')).replaceAll(/[_/-]+/g, ' '))
  const tokens: string[] = []
  for (let at = 0; at < words.length; ) {
    const number = readNumber(words, at)
    const isNumber = number !== undefined && number.value >= 0
    tokens.push(isNumber ? String(number.value) : plain(words[at]?.key ?? ''))
    at += isNumber ? number.used : 1
  }
  return tokens
}

/** "Kitchen's" becomes "kitchen", "A/C" "ac", and "café" "cafe". */
export function plain(key: string): string {
  return withInitials(unaccented(key)).replace(/'s?$/, '')
}

/** Joins single letters into one word: "A/C", "T.V.", "P C". */
function withInitials(text: string): string {
  if (!/[./ ]/.test(text)) return text
  return text.replaceAll(/(?<![\p{L}\p{N}])\p{L}(?:[./ ]\p{L}(?![\p{L}\p{N}']))+/gu, initials =>
    initials.replaceAll(/[./ ]/g, ''),
  )
}

/** Without diacritics. */
export function unaccented(word: string): string {
  return /^[\u0020-\u007e]*$/.test(word)
    ? word
    : word
        .normalize('NFD')
        .replaceAll(/[\u0300-\u036f]/g, '')
        .normalize('NFC')
}
