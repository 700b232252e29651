import llamaTokenizer from 'llama-tokenizer-js'
import type { SentenceGraph } from 'toolpost/models'
import { SentenceWalk, type WordState } from './sentence-walk.ts'
import { ENGLISH, type NumberSoFar, nextNumber } from './spoken-numbers.ts'

/** The most nodes to remember; beyond that the cache is dropped and refilled. */
const MOST_NODES = 40_000
/** Numbers in a home have three words at most; those of a calculation may have more and are then written in words. */
const MOST_NUMBER_WORDS = 5
const MOST_NUMBERS = 1_200
/** Signs written after figures and spoken as words. */
const SIGNS = ['%', '°'] as const
const COMMA = tokenOf(',')
const FINAL = [...'.?!'].map(tokenOf)

/** A trie of the tokens of what may be said at one point. */
export class TokenNode {
  static #last = 0
  readonly id = ++TokenNode.#last
  /** Undefined for a leaf, as most nodes are. */
  next: Map<number, TokenNode> | undefined
  /** The state of the sentence if the word ends here. */
  after: WordState | undefined
  /** The words spoken if it does. */
  words = ''
}

const written = new Map<string, readonly (readonly number[])[]>()

/** Which tokens continue a sentence of a graph, each word spelled as the tokenizer would: the model knows no other way. */
export class AllowedTokens {
  readonly #graph: SentenceGraph
  #walk: SentenceWalk
  #trees = new Map<number, TokenNode>()
  #nodes = 0
  /** The node after the final punctuation mark. */
  readonly #end = new TokenNode()

  constructor(graph: SentenceGraph) {
    this.#graph = graph
    this.#walk = new SentenceWalk(graph)
  }

  /** The node before the first word. Nodes from an earlier start may no longer be cached. */
  start(): TokenNode {
    if (this.#nodes > MOST_NODES) {
      this.#walk = new SentenceWalk(this.#graph)
      this.#trees = new Map()
      this.#nodes = 0
    }
    return this.#tree(this.#walk.start())
  }

  /** The tokens that may come next, each with whether the current word ends before it, and whether the sentence may end. */
  from(node: TokenNode) {
    const { after } = node
    const tokens = [...(node.next ?? [])].map(([token, to]) => ({ token, to, endsWord: false }))
    if (!after) return { tokens, mayEnd: node === this.#end }
    const tree = this.#tree(after)
    const ends = after.mayEnd ? FINAL.map(token => [token, this.#end] as const) : []
    const more = [...(tree.next ?? []), [COMMA, tree] as const, ...ends]
    const next = more.map(([token, to]) => ({ token, to, endsWord: true }))
    return { tokens: [...tokens, ...next], mayEnd: after.mayEnd }
  }

  /** The trie of everything that may be written next. The first to claim a spelling keeps it. */
  #tree(state: WordState): TokenNode {
    const known = this.#trees.get(state.id)
    if (known) return known
    const root = new TokenNode()
    for (const { letters, words, after } of spellings(state))
      for (const tokens of tokensOf(letters)) {
        const node = tokens.reduce((at, token) => this.#step(at, token), root)
        if (!node.after) Object.assign(node, { after, words })
      }
    this.#trees.set(state.id, root)
    return root
  }

  #step(node: TokenNode, token: number): TokenNode {
    node.next ??= new Map()
    const known = node.next.get(token)
    if (known) return known
    const next = new TokenNode()
    node.next.set(token, next)
    this.#nodes++
    return next
  }
}

function tokenOf(mark: string): number {
  return llamaTokenizer.vocabById.indexOf(mark)
}

/** In lower case, and as the first word of a sentence or a name. */
function tokensOf(letters: string): readonly (readonly number[])[] {
  const known = written.get(letters)
  if (known) return known
  const forms = new Set([letters, letters.replace(/^./u, first => first.toUpperCase())])
  const tokens = [...forms].map(form => llamaTokenizer.encode(form, false))
  written.set(letters, tokens)
  return tokens
}

/** One way to write what may be said next, the words it stands for, and the state after it. */
interface Spelling {
  letters: string
  words: string
  after: WordState
}

/** Every spelling allowed next: plain words, numbers as digits, contractions ("what's", "I'd"). */
function spellings(state: WordState): Spelling[] {
  const plain = [...state.words()].map(word => [word, word] as const)
  const written = [...plain, ...Object.entries(ENGLISH.contractions)].flatMap(([letters, words]) => {
    const after = words.split(' ').reduce<WordState | undefined>((at, word) => at?.after(word), state)
    return after ? [{ letters, words, after }] : []
  })
  return [...written, ...figures(state)]
}

/** Numbers in figures, with a sign after them, or in words with a hyphen. */
function figures(state: WordState): Spelling[] {
  const found: Spelling[] = []
  const follow = (at: WordState, said: readonly string[], number: NumberSoFar | undefined): void => {
    if (said.length > MOST_NUMBER_WORDS || found.length > MOST_NUMBERS) return
    if (number && /\d$/.test(number.figures)) {
      const words = said.join(' ')
      found.push({ letters: number.figures, words, after: at })
      if (said.length === 2 && number.value < 100) found.push({ letters: said.join('-'), words, after: at })
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
