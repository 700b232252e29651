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
const DROPPED = new Set(['"', '“', '”', '„', '«', '»', "'", '’', '‘', '`', '-', '_', '#', '¿', '¡'])

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
    const near = (most: number) =>
      [...known].filter(word => allowedDistance(key, word) >= most && isWithin(key, word, most))
    const closest = near(1)
    const corrections = closest.length > 0 ? closest : near(2)
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

/** Whether at most so many letters were added, left out, changed or swapped with their neighbours. */
function isWithin(one: string, other: string, most: number): boolean {
  let at = 0
  while (at < one.length && one[at] === other[at]) at++
  const [rest, wanted] = [one.slice(at), other.slice(at)]
  if (most === 0 || rest === '' || wanted === '') return rest.length + wanted.length <= most
  const isSwap = rest[0] === wanted[1] && rest[1] === wanted[0]
  const changes = [[1, 0], [0, 1], [1, 1], ...(isSwap ? [[2, 2]] : [])]
  return changes.some(([left, right]) => isWithin(rest.slice(left), wanted.slice(right), most - 1))
}
