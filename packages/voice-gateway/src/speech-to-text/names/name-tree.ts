/** A trie of names, by token. */
interface NameNode {
  readonly next: Map<number, NameNode>
  isWhole: boolean
}

/** How much of a name has been written, and the bonus given for it, which is lost if the name breaks off. */
export interface NamePlace {
  node: NameNode
  given: number
  /** Whether a complete name has already been written. */
  hasName: boolean
}

interface NameTreeOptions {
  /** A text as tokens, including the leading space. */
  encode(text: string): readonly number[]
  /** Whether a word ends before this token. */
  endsWord(token: number): boolean
}

/** The bonus per token of a name, and the most per name, in nats: enough for "Plex" instead of "blacks". */
const GIVEN_FOR_TOKEN = 3
const GIVEN_FOR_NAME = 6
/** With more, names would be heard everywhere. */
const MOST_NAMES = 200

/** Names that may be said although no sentence has them, by their tokens. */
export class NameTree {
  readonly #root = newNode()
  readonly #endsWord: NameTreeOptions['endsWord']

  constructor(names: readonly string[], { encode, endsWord }: NameTreeOptions) {
    this.#endsWord = endsWord
    for (const name of names.slice(0, MOST_NAMES))
      for (const spelling of new Set([name, name.toLowerCase()])) this.#add(encode(spelling))
  }

  start(): NamePlace {
    return { node: this.#root, given: 0, hasName: false }
  }

  /** The tokens that continue a name, or begin one. */
  expected({ node }: NamePlace): Set<number> {
    return new Set([...node.next.keys(), ...this.#root.next.keys()])
  }

  /** Where a token leads, and how it changes the text's likelihood. Only one name per text gets a bonus. */
  after({ node, given, hasName }: NamePlace, token: number): { place: NamePlace; gain: number } {
    const further = node.next.get(token)
    if (further) {
      const gain = hasName ? 0 : Math.min(GIVEN_FOR_TOKEN, GIVEN_FOR_NAME - given)
      return { place: { node: further, given: given + gain, hasName }, gain }
    }
    if (node.isWhole && this.#endsWord(token)) return this.after({ ...this.start(), hasName: true }, token)
    if (node !== this.#root) {
      const { place, gain } = this.after({ ...this.start(), hasName }, token)
      return { place, gain: gain - given }
    }
    return { place: { node, given: 0, hasName }, gain: 0 }
  }

  /** What is lost if the text ends here; everything if it has no name. */
  lostAtEnd({ node, given, hasName }: NamePlace): number {
    if (node.isWhole) return 0
    return hasName ? given : Number.POSITIVE_INFINITY
  }

  #add(tokens: readonly number[]): void {
    let node = this.#root
    for (const token of tokens) {
      const next = node.next.get(token) ?? newNode()
      node.next.set(token, next)
      node = next
    }
    node.isWhole = node !== this.#root
  }
}

function newNode(): NameNode {
  return { next: new Map(), isWhole: false }
}
