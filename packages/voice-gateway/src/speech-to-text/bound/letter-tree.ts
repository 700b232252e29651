import { spellings } from './spellings.ts'
import type { WordState } from './word-state.ts'

/** The tokenizer's symbol for the space before a word. */
export const BLANK = '▁'

/** A trie of the spellings of what may be said at one point. */
export class LetterNode {
  static #last = 0
  readonly id = ++LetterNode.#last
  readonly letters = new Map<string, LetterNode>()
  /** The state of the sentence if the word ends here. */
  after: WordState | undefined
  /** The words spoken if it does. */
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

/** The trie of everything that may be written next, each with its leading space. The first to claim a spelling keeps it. */
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
