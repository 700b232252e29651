/** A word, number or symbol of a request. */
export interface Token {
  /** What templates are compared with: lower case, without apostrophes. */
  readonly key: string
  readonly start: number
  readonly end: number
  /** A comma or the end of a sentence stands before it. */
  readonly afterBreak: boolean
  /** How it may have been meant, if it is no known word. */
  readonly corrections: readonly string[]
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
