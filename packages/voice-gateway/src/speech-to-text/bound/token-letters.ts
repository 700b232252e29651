import { BLANK } from './letter-tree.ts'

/** Tokens that may spell a sentence: letters, figures, and the signs that belong to words. */
const WRITABLE = /^▁?[a-z0-9'.%°]*$/
const PUNCTUATION = { comma: ',', hyphen: '-', ends: ['.', '?', '!'] }

/** The tokens of a vocabulary by their lower-case spelling: `Turn`, `turn` and `TURN` are the same. */
export interface TokenLetters {
  readonly byLetters: ReadonlyMap<string, readonly number[]>
  readonly longest: number
  readonly commas: readonly number[]
  readonly hyphens: readonly number[]
  readonly ends: readonly number[]
}

export function tokenLetters(vocabulary: readonly string[]): TokenLetters {
  const byLetters = new Map<string, number[]>()
  vocabulary.forEach((token, id) => {
    const letters = token.toLowerCase().replace('’', "'")
    if (token === '' || !(WRITABLE.test(letters) || letters === PUNCTUATION.comma || isMark(letters))) return
    byLetters.set(letters, [...(byLetters.get(letters) ?? []), id])
  })
  const of = (letters: string) => byLetters.get(letters) ?? []
  return {
    byLetters,
    longest: Math.max(...[...byLetters.keys()].map(({ length }) => length), BLANK.length),
    commas: of(PUNCTUATION.comma),
    hyphens: of(PUNCTUATION.hyphen),
    ends: PUNCTUATION.ends.flatMap(of),
  }
}

function isMark(letters: string): boolean {
  return letters === PUNCTUATION.hyphen || PUNCTUATION.ends.includes(letters)
}
