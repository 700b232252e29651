import { REMOVED } from './known-secrets.ts'
import { namesASecret } from './secret-names.ts'

/** What replaces a match: the match itself, or the text before the secret, `REMOVED`, and the text after it. */
export type Left = (all: string, groups: readonly string[], at: number, text: string) => string

/** How a secret appears in a text. Every pattern must take linear time: each run is started once or is bounded. */
export interface Form {
  /** Rules out texts that cannot contain one. */
  hint: { test(text: string): boolean }
  pattern: RegExp
  left: Left
}

/** Removes the value if the name before it is that of a secret. */
export const ifNamed: Left = (all, [before, name = '']) => (namesASecret(name) ? before + REMOVED : all)

/** Whether it is a word and not a key: `expired`, `Required`. */
export function isWord(value: string): boolean {
  return /^[A-Z]?[a-z'-]*[.,;:!?)]*$/.test(value)
}
