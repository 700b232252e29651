import type { SentenceGraph } from 'toolpost/models'
import { SentenceWalk, type WordState } from './sentence-walk.ts'
import { ENGLISH, type NumberSoFar, nextNumber } from './spoken-numbers.ts'

/** The tokenizer's symbol for the space before a word. */
const BLANK = '▁'
/** Tokens that may spell a sentence: letters, figures, and the signs that belong to words. */
const WRITABLE = /^(?:▁?[a-z0-9'.%°]*|[,.?!-])$/
/** The most tokens to remember, about 15 MB; beyond that the cache is dropped and refilled. */
const MOST_TOKENS = 50_000
/** Numbers in a home have three words at most; those of a calculation may have more and are then written in words. */
const MOST_NUMBER_WORDS = 5
const MOST_NUMBERS = 1_200
/** Signs written after figures and spoken as words. */
const SIGNS = ['%', '°'] as const

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

/** A token that may come next, and the letter node it leads to. */
export interface AllowedToken {
  token: number
  to: LetterNode
  /** Whether the current word ends before it. */
  endsWord: boolean
}

interface Allowed {
  tokens: readonly AllowedToken[]
  /** Whether the sentence may end here. */
  mayEnd: boolean
}

/** The tokens of a vocabulary by their lower-case spelling: `Turn`, `turn` and `TURN` are the same. */
export type TokenLetters = ReturnType<typeof tokenLetters>

export function tokenLetters(vocabulary: readonly string[]) {
  const byLetters = new Map<string, number[]>()
  let longest = 1
  vocabulary.forEach((token, id) => {
    const letters = token.toLowerCase().replace('’', "'")
    if (token === '' || !WRITABLE.test(letters)) return
    byLetters.set(letters, [...(byLetters.get(letters) ?? []), id])
    longest = Math.max(longest, letters.length)
  })
  return { longest, of: (letters: string): readonly number[] => byLetters.get(letters) ?? [] }
}

/** Which tokens continue a sentence of a graph: walks the vocabulary and the graph together, letter by letter. */
export class AllowedTokens {
  readonly #graph: SentenceGraph
  readonly #letters: TokenLetters
  #walk: SentenceWalk
  #trees = new Map<number, LetterNode>()
  #allowed = new Map<LetterNode, Allowed>()
  #remembered = 0
  /** The node after the final punctuation mark. */
  readonly #end = new LetterNode()

  constructor(graph: SentenceGraph, letters: TokenLetters) {
    this.#graph = graph
    this.#letters = letters
    this.#walk = new SentenceWalk(graph)
  }

  /** The node before the first word. Nodes from an earlier start may no longer be cached. */
  start(): LetterNode {
    if (this.#walk.isFull || this.#remembered > MOST_TOKENS) {
      this.#walk = new SentenceWalk(this.#graph)
      this.#trees = new Map()
      this.#allowed = new Map()
      this.#remembered = 0
    }
    return this.#tree(this.#walk.start())
  }

  from(node: LetterNode): Allowed {
    if (node === this.#end) return { tokens: [], mayEnd: true }
    const known = this.#allowed.get(node)
    if (known) return known
    const { after } = node
    const tokens = this.#writable(node, false)
    if (after) tokens.push(...this.#afterWord(after))
    const allowed = { tokens, mayEnd: after?.mayEnd ?? false }
    this.#allowed.set(node, allowed)
    this.#remembered += tokens.length
    return allowed
  }

  /** The trie of everything that may be written next, each with its leading space. The first to claim a spelling keeps it. */
  #tree(state: WordState): LetterNode {
    const known = this.#trees.get(state.id)
    if (known) return known
    const root = new LetterNode()
    for (const { letters, words, after } of spellings(state)) {
      const node = root.at(BLANK + letters)
      if (!node.after) Object.assign(node, { after, words })
    }
    this.#trees.set(state.id, root)
    return root
  }

  /** Every token whose letters lie on a path from this node. */
  #writable(from: LetterNode, endsWord: boolean): AllowedToken[] {
    const found: AllowedToken[] = []
    const follow = (node: LetterNode, written: string) => {
      for (const token of this.#letters.of(written)) found.push({ token, to: node, endsWord })
      if (written.length >= this.#letters.longest) return
      for (const [letter, next] of node.letters) follow(next, written + letter)
    }
    for (const [letter, next] of from.letters) follow(next, letter)
    return found
  }

  /** The next word, after a space, comma or hyphen; or the final punctuation mark. */
  #afterWord(after: WordState): AllowedToken[] {
    const tree = this.#tree(after)
    const to = (marks: string, node: LetterNode | undefined) =>
      node
        ? [...marks]
            .flatMap(mark => this.#letters.of(mark))
            .map(token => ({ token, to: node, endsWord: true }))
        : []
    return [
      ...this.#writable(tree, true),
      ...to(',', tree),
      ...to('-', tree.letters.get(BLANK)),
      ...to('.?!', after.mayEnd ? this.#end : undefined),
    ]
  }
}

/** One way to write what may be said next, the words it stands for, and the state after it. */
interface Spelling {
  letters: string
  words: string
  after: WordState
}

/** Every spelling allowed next: plain words, numbers as digits, contractions ("what's", "I'd"). */
function spellings(state: WordState): Spelling[] {
  const words = [...state.words()].flatMap(word => spelling(word, word, state))
  const contracted = Object.entries(ENGLISH.contractions).flatMap(([short, long]) =>
    spelling(short, long, state),
  )
  return [...words, ...figures(state), ...contracted]
}

function figures(state: WordState): Spelling[] {
  const found: Spelling[] = []
  const follow = (at: WordState, said: readonly string[], number: NumberSoFar | undefined): void => {
    if (said.length > MOST_NUMBER_WORDS || found.length > MOST_NUMBERS) return
    if (number && /\d$/.test(number.figures)) {
      const words = said.join(' ')
      found.push({ letters: number.figures, words, after: at })
      for (const sign of SIGNS) {
        const word = ENGLISH.signs[sign] ?? sign
        const after = at.after(word)
        if (after) found.push({ letters: number.figures + sign, words: `${words} ${word}`, after })
      }
    }
    for (const word of at.words()) {
      const next = nextNumber(number, word)
      const after = next && at.after(word)
      if (after) follow(after, [...said, word], next)
    }
  }
  follow(state, [], undefined)
  return found
}

function spelling(letters: string, words: string, state: WordState): Spelling[] {
  const after = words.split(' ').reduce<WordState | undefined>((at, word) => at?.after(word), state)
  return after ? [{ letters, words, after }] : []
}
