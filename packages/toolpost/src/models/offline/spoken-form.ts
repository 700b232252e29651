import { numberInWords } from './numbers.ts'

/** Whether somebody who listens to English could write it down. */
export function isSaid(word: string): boolean {
  return /^[a-z\d][a-z\d'-]*$/.test(word)
}

/** A word as it is said: `1` as "one", `z-wave` as "z wave". */
export function wordsSaid(word: string): string[] {
  if (/^\d{1,4}$/.test(word)) return numberInWords(Number(word))
  return word.split('-').filter(part => part !== '')
}
