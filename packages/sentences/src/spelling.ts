import type { Token } from './text.ts'

const MAX_CORRECTIONS = 4

/** Adds how unknown words may have been meant. A known word is never taken for another. */
export function corrected(tokens: readonly Token[], known: ReadonlySet<string>): Token[] {
  return tokens.map(token => {
    const { key } = token
    if (key.length < 3 || /\d/.test(key) || known.has(key)) return token
    const near = [...known].flatMap(word => {
      const allowed = allowedDistance(key, word)
      const distance = allowed > 0 ? editDistance(key, word) : Infinity
      return distance <= allowed ? [{ word, distance }] : []
    })
    const least = Math.min(...near.map(({ distance }) => distance))
    const corrections = near.filter(({ distance }) => distance === least).map(({ word }) => word)
    return corrections.length > MAX_CORRECTIONS ? token : { ...token, corrections }
  })
}

/** Two letters in long words, one in others; in words of three only swapped letters, or one too many at the end. */
function allowedDistance(key: string, word: string): number {
  const length = Math.min(key.length, word.length)
  const allowed = length >= 8 ? 2 : 1
  if (Math.abs(key.length - word.length) > allowed || length < 3 || /\d/.test(word)) return 0
  const isSwapped = [...key].sort().join('') === [...word].sort().join('')
  return length >= 4 || isSwapped || (key.length === 4 && key.startsWith(word)) ? allowed : 0
}

/** Insertions, deletions, substitutions and swaps of neighbours. */
function editDistance(one: string, other: string): number {
  let [before, previous]: number[][] = [[], Array.from({ length: other.length + 1 }, (_, at) => at)]
  for (let row = 1; row <= one.length; row++) {
    const current = [row]
    const at = (line: number[] | undefined, column: number) => line?.[column] ?? Infinity
    for (let column = 1; column <= other.length; column++) {
      const cost = one[row - 1] === other[column - 1] ? 0 : 1
      const isSwap = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]
      const swapped = isSwap ? at(before, column - 2) + 1 : Infinity
      const changed = Math.min(at(previous, column), at(current, column - 1)) + 1
      current.push(Math.min(changed, at(previous, column - 1) + cost, swapped))
    }
    ;[before, previous] = [previous, current]
  }
  return previous?.at(-1) ?? 0
}
