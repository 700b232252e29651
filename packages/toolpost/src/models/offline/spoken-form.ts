import { numberInWords } from './numbers.ts'
import { unaccented } from './tokens.ts'

/** Whether somebody who listens to English could write it down. */
export function isSaid(word: string): boolean {
  return /^[a-z\d][a-z\d'-]*$/.test(unaccented(word))
}

/** A word as it is said: `1` as "one", `z-wave` as "z wave". */
export function wordsSaid(word: string): string[] {
  if (/^\d{1,4}$/.test(word)) return numberInWords(Number(word))
  return unaccented(word)
    .split('-')
    .filter(part => part !== '')
}
