import type { SentenceGraph } from 'toolpost/models'
import { BLANK, LetterNode, letterTree } from './letter-tree.ts'
import type { TokenLetters } from './token-letters.ts'
import { SentenceWalk, type WordState } from './word-state.ts'

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

/** The most tokens to remember, about 15 MB; beyond that the cache is dropped and refilled. */
const MOST_TOKENS = 50_000

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
    if (this.#walk.isFull || this.#remembered > MOST_TOKENS) this.#forget()
    return this.#tree(this.#walk.start())
  }

  #forget(): void {
    this.#walk = new SentenceWalk(this.#graph)
    this.#trees = new Map()
    this.#allowed = new Map()
    this.#remembered = 0
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

  #tree(state: WordState): LetterNode {
    const tree = this.#trees.get(state.id) ?? letterTree(state)
    this.#trees.set(state.id, tree)
    return tree
  }

  /** Every token whose letters lie on a path from this node. */
  #writable(from: LetterNode, endsWord: boolean): AllowedToken[] {
    const found: AllowedToken[] = []
    const follow = (node: LetterNode, written: string) => {
      for (const token of this.#letters.byLetters.get(written) ?? [])
        found.push({ token, to: node, endsWord })
      if (written.length >= this.#letters.longest) return
      for (const [letter, next] of node.letters) follow(next, written + letter)
    }
    for (const [letter, next] of from.letters) follow(next, letter)
    return found
  }

  /** The next word, after a space, comma or hyphen; or the final punctuation mark. */
  #afterWord(after: WordState): AllowedToken[] {
    const tree = this.#tree(after)
    const joined = tree.letters.get(BLANK)
    const to = (tokens: readonly number[], node: LetterNode | undefined) =>
      node ? tokens.map(token => ({ token, to: node, endsWord: true })) : []
    const { commas, hyphens, ends } = this.#letters
    return [
      ...this.#writable(tree, true),
      ...to(commas, tree),
      ...to(hyphens, joined),
      ...to(ends, after.mayEnd ? this.#end : undefined),
    ]
  }
}
