import type { ListReader } from './lists.ts'
import type { TemplateNode } from './template.ts'

/** The rules and lists that sentences refer to, and the words that are not misspellings. */
export interface Lexicon {
  rule(name: string): readonly TemplateNode[] | undefined
  list(name: string): ListReader | undefined
  /** Whether a word is known, so that it is not taken for a misspelling. */
  knows(word: string): boolean
}

export const EMPTY_LEXICON: Lexicon = {
  rule: () => undefined,
  list: () => undefined,
  knows: () => false,
}
