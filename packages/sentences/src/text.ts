/** A word, number or symbol of a request. */
export interface Token {
  readonly key: string // What templates are compared with: lower case, without apostrophes
  readonly start: number
  readonly end: number
  readonly afterBreak: boolean // A comma or the end of a sentence stands before it
  readonly corrections: readonly string[] // How it may have been meant, if it is no known word
}

export const MAX_TOKENS = 60
const PIECES =
  /\d{1,3}(?:,\d{3})+|\d+(?:[.,:/]\d+)?|\.\d+|\p{L}[\p{L}\p{M}]*(?:['’`]\p{L}[\p{L}\p{M}]*)*['’]?|\S/gu
const BREAKS = new Set([',', ';', ':', '.', '!', '–', '—', '…'])
const DROPPED = new Set(['"', '“', '”', '„', '«', '»', "'", '’', '‘', '`', '-', '_', '¿', '¡'])

/** The words of a text; commas and full stops only mark the word after them. */
export function tokensOf(text: string): Token[] {
  const tokens: Token[] = []
  let afterBreak = false
  for (const { 0: piece, index: start } of text.matchAll(PIECES)) {
    if (tokens.length > MAX_TOKENS) break
    const isMinus =
      piece === '-' && /[\d.]/.test(text[start + 1] ?? '') && !/[\p{L}\d]/u.test(text[start - 1] ?? '')
    if (BREAKS.has(piece)) afterBreak = true
    if (BREAKS.has(piece) || (DROPPED.has(piece) && !isMinus)) continue
    tokens.push({ key: keyOf(piece), start, end: start + piece.length, afterBreak, corrections: [] })
    afterBreak = false
  }
  return tokens
}

export function keysOf(text: string): string[] {
  return tokensOf(text).map(({ key }) => key)
}

function keyOf(piece: string): string {
  if (/^\d{1,3}(,\d{3})+$/.test(piece)) return piece.replaceAll(',', '')
  if (/^\d+,\d+$/.test(piece)) return piece.replace(',', '.')
  return piece.normalize('NFKC').toLowerCase().replace(/['’`]/g, '')
}

/** Words as a list: "a", "a and b", "a, b and c". */
export function listWords(words: readonly string[], joint: string): string {
  if (words.length < 2) return words.join('')
  return `${words.slice(0, -1).join(', ')} ${joint} ${words.at(-1)}`
}

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
  if (length >= 4) return allowed
  const isSwapped = [...key].sort().join('') === [...word].sort().join('')
  return isSwapped || (key.length === 4 && key.startsWith(word)) ? allowed : 0
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
