/*
 * Text of tools, servers and models as it may be shown: what a terminal or a text direction mark would do stays
 * undone, and is seen instead.
 */

const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g

/** Control and direction characters become visible escapes; line breaks and tabs stay. */
export function visibleText(text: string): string {
  return text.replace(/\r\n/g, '\n').replace(HIDDEN, escaped)
}

/** The same on one line, and no longer than `limit`. */
export function oneLine(text: string, limit = 200): string {
  const head = text.length > limit * 2 ? text.slice(0, limit * 2) : text
  const line = visibleText(head).replace(/\n/g, '\\n').replace(/\t/g, '\\t')
  return line.length > limit || head !== text ? `${line.slice(0, limit - 1)}…` : line
}

/** A value as JSON; `undefined` is said in words. */
export function jsonText(value: unknown, indent = 2): string {
  return value === undefined ? 'nothing' : visibleText(JSON.stringify(value, null, indent) ?? String(value))
}

function escaped(character: string): string {
  const code = character.charCodeAt(0)
  return code < 0x100
    ? `\\x${code.toString(16).padStart(2, '0')}`
    : `\\u${code.toString(16).padStart(4, '0')}`
}
