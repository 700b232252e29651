import { numberInWords } from './numbers.ts'
import { unaccented } from './tokens.ts'

const PLAIN = /^[a-z]+$/

/** Whether a word can be spoken in English. */
export function isSaid(word: string): boolean {
  return PLAIN.test(word) || /^[a-z\d][a-z\d'-]*$/.test(unaccented(word))
}

/** A word as spoken: `1` as "one", `z-wave` as "z wave". */
export function wordsSaid(word: string): string[] {
  if (PLAIN.test(word)) return [word]
  if (/^\d{1,4}$/.test(word)) return numberInWords(Number(word))
  return unaccented(word)
    .split('-')
    .filter(part => part !== '')
}

/** A phrase as spoken, with numbers in words; empty if it is unpronounceable. */
export function phraseSaid(phrase: readonly string[]): string[][] {
  return phrase.every(isSaid) ? [phrase.flatMap(wordsSaid)] : []
}
