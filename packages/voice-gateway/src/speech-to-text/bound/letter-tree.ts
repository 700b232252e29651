import { spellings } from './spellings.ts'
import type { WordState } from './word-state.ts'

/** The tokenizer's sign for the blank before a word. */
export const BLANK = '▁'

/** Letters that were written of what may be said at a place, as a tree. */
export class LetterNode {
  static #last = 0
  readonly id = ++LetterNode.#last
  readonly letters = new Map<string, LetterNode>()
  /** Where the sentence is if the word ends here. */
  after: WordState | undefined
  /** The words that were said if it does. */
  words = ''

  at(letters: string): LetterNode {
    let node: LetterNode = this
    for (const letter of letters) {
      const next = node.letters.get(letter) ?? new LetterNode()
      node.letters.set(letter, next)
      node = next
    }
    return node
  }
}

/** The tree of everything that may be written next, each with the blank before it. The first to claim a spelling has it. */
export function letterTree(state: WordState): LetterNode {
  const root = new LetterNode()
  for (const { letters, words, after } of spellings(state)) {
    const node = root.at(BLANK + letters)
    if (node.after) continue
    node.after = after
    node.words = words
  }
  return root
}
