import { distance } from 'fastest-levenshtein'
import { letterSet, lettersMissing } from '../../runtime/letter-set.ts'

/** Longer terms match nothing: comparing them would take too long. */
const MAX_COMPARED_LENGTH = 32

export interface Spelling {
  term: string
  /** Its letters as a bit set, which rules out most terms without comparing further. */
  letters: number
}

export function spellingOf(term: string): Spelling {
  return { term, letters: letterSet(term) }
}

/** From 0, nothing in common, to 1, identical. */
export function likeness(a: Spelling, b: Spelling): number {
  const longer = Math.max(a.term.length, b.term.length)
  if (longer > MAX_COMPARED_LENGTH || lettersMissing(a.letters, b.letters) > longer / 2) return 0
  return 1 - distance(a.term, b.term) / longer
}

/** Whether `other` starts with `wanted`, or is a typo or two away. */
export function isNear(wanted: Spelling, other: Spelling): boolean {
  const { term, letters } = wanted
  const slips = term.length < 4 ? 0 : term.length > 6 ? 2 : 1
  const missing = lettersMissing(letters, other.letters)
  if (missing === 0 && other.term.startsWith(term)) return true
  if (slips === 0 || Math.abs(other.term.length - term.length) > slips) return false
  if (missing > slips || lettersMissing(other.letters, letters) > slips) return false
  return distance(term, other.term) <= slips
}
