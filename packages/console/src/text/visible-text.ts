/*
 * Makes text from tools, servers and models safe to show: control characters, bidi marks and invisible characters
 * become escapes, so that nothing takes effect and nothing is hidden.
 */

const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}\p{Cs}]/gu

/** Line breaks and tabs stay. */
export function visibleText(text: string): string {
  return text.replace(/\r\n/g, '\n').replace(HIDDEN, escaped)
}

/** The beginning of a text of any length. */
export function clipped(text: string, limit: number): string {
  return text.length > limit ? `${visibleText(text.slice(0, limit))}…` : visibleText(text)
}

/** The same on one line, at most `limit` characters. */
export function oneLine(text: string, limit = 200): string {
  const line = clipped(text, limit).replace(/\n/g, '\\n').replace(/\t/g, '\\t')
  return line.length > limit ? `${line.slice(0, limit - 1)}…` : line
}

/** The escapes are those of JSON and JavaScript. */
function escaped(character: string): string {
  const hex = (character.codePointAt(0) ?? 0).toString(16)
  if (hex.length <= 2) return `\\x${hex.padStart(2, '0')}`
  return hex.length <= 4 ? `\\u${hex.padStart(4, '0')}` : `\\u{${hex}}`
}
