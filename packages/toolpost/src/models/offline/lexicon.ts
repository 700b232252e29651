import type { ListReader } from './lists.ts'
import type { TemplateNode } from './template.ts'

/** What sentences refer to by name, and the words that are no misspellings of others. */
export interface Lexicon {
  rule(name: string): readonly TemplateNode[] | undefined
  list(name: string): ListReader | undefined
  /** Whether a word is one that somebody may have meant as it stands. */
  knows(word: string): boolean
}

export const EMPTY_LEXICON: Lexicon = {
  rule: () => undefined,
  list: () => undefined,
  knows: () => false,
}
