import { distance } from 'fastest-levenshtein'

/** Longer terms are like no other: comparing them would take long. */
const MAX_COMPARED_LENGTH = 32

/** How a term is written. */
export interface Spelling {
  term: string
  /** Its letters as bits: most terms need not be compared further. */
  letters: number
}

export function spellingOf(term: string): Spelling {
  let letters = 0
  for (let at = 0; at < term.length; at++) letters |= 1 << term.charCodeAt(at)
  return { term, letters }
}

/** From 0, nothing alike, to 1, the same. */
export function likeness(a: Spelling, b: Spelling): number {
  const longer = Math.max(a.term.length, b.term.length)
  if (longer > MAX_COMPARED_LENGTH || countBits(a.letters & ~b.letters) > longer / 2) return 0
  return 1 - distance(a.term, b.term) / longer
}

/** Whether `other` begins with what is wanted, or is a typo or two away. */
export function isNear(wanted: Spelling, other: Spelling): boolean {
  const { term, letters } = wanted
  const slips = term.length < 4 ? 0 : term.length > 6 ? 2 : 1
  const missing = countBits(letters & ~other.letters)
  if (missing === 0 && other.term.startsWith(term)) return true
  if (slips === 0 || Math.abs(other.term.length - term.length) > slips) return false
  // A letter that the other has not is at least one typo.
  if (missing > slips || countBits(other.letters & ~letters) > slips) return false
  return distance(term, other.term) <= slips
}

function countBits(bits: number): number {
  let left = bits
  let ones = 0
  for (; left !== 0; ones++) left &= left - 1
  return ones
}
