import { REMOVED } from './known-secrets.ts'
import { namesASecret } from './secret-names.ts'

/** What is left of a match: what it was, or what stands before the secret, `REMOVED`, and what stands after it. */
export type Left = (all: string, groups: readonly string[], at: number, text: string) => string

/** How a text shows a secret. No pattern may take more than linear time: each run is begun once, or is bounded. */
export interface Form {
  /** Which texts can have one. */
  hint: { test(text: string): boolean }
  pattern: RegExp
  left: Left
}

/** What stands before the secret is kept, if it names one. */
export const ifNamed: Left = (all, [before, name = '']) => (namesASecret(name) ? before + REMOVED : all)

/** A word and not a key: `expired`, `Required`. */
export function isWord(value: string): boolean {
  return /^[A-Z]?[a-z'-]*[.,;:!?)]*$/.test(value)
}
