import type { Token } from './text.ts'

const MAX_CORRECTIONS = 4

/** Adds how unknown words may have been meant. A known word is never taken for another. */
export function corrected(tokens: readonly Token[], known: ReadonlySet<string>): Token[] {
  return tokens.map(token => {
    const { key } = token
    if (key.length < 3 || /\d/.test(key) || known.has(key)) return token
    const found: { word: string; distance: number }[] = []
    for (const word of known) {
      const allowed = allowedDistance(key, word)
      if (allowed === 0) continue
      const distance = editDistance(key, word, allowed)
      if (distance <= allowed) found.push({ word, distance })
    }
    const least = Math.min(...found.map(({ distance }) => distance))
    const corrections = found.filter(({ distance }) => distance === least).map(({ word }) => word)
    return corrections.length === 0 || corrections.length > MAX_CORRECTIONS
      ? token
      : { ...token, corrections }
  })
}

/** Two letters in long words, one in others; in words of three only swapped letters. */
function allowedDistance(key: string, word: string): number {
  const length = Math.min(key.length, word.length)
  const allowed = length >= 8 ? 2 : 1
  if (Math.abs(key.length - word.length) > allowed || word.length < 3 || /\d/.test(word)) return 0
  if (length >= 4) return allowed
  const isSwapped = key.length === word.length && [...key].sort().join('') === [...word].sort().join('')
  return isSwapped || (key.length === 4 && key.startsWith(word)) ? 1 : 0
}

/** Insertions, deletions, substitutions and swaps of neighbours; more than `max` if there are too many. */
function editDistance(one: string, other: string, max: number): number {
  let before: number[] = []
  let previous = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (let row = 1; row <= one.length; row++) {
    const current = [row]
    for (let column = 1; column <= other.length; column++) {
      const cost = one[row - 1] === other[column - 1] ? 0 : 1
      let least = Math.min(
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + cost,
      )
      const isSwap =
        row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]
      if (isSwap) least = Math.min(least, (before[column - 2] ?? 0) + 1)
      current.push(least)
    }
    if (Math.min(...current) > max) return max + 1
    before = previous
    previous = current
  }
  return previous[other.length] ?? max + 1
}
