import { MAX_JSON_COST, MAX_JSON_DEPTH, MAX_JSON_NAMES } from '../limits.ts'

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const BACKSLASH = 0x5c
const LIST = 0x5b
const RECORD = 0x7b
const END_OF_LIST = 0x5d
const END_OF_RECORD = 0x7d

/**
 * What it costs to parse a text, in the units of `MAX_JSON_COST`; or the problem, if that would block for too long: too many
 * values or levels, or too many names in one object. `JSON.parse` cannot be interrupted, and 4 MB of `[` or `{},` take seconds.
 */
export function jsonCost(text: string): number | { problem: string } {
  let quarters = 0
  let depth = 0
  /** How many names each enclosing object has, by depth. */
  const names = [0]
  // A shorter text cannot cost that much.
  if (text.length <= MAX_JSON_COST) return 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
    else if (code === COMMA) quarters++
    else if (code === COLON) {
      const count = (names[depth] ?? 0) + 1
      if (count > MAX_JSON_NAMES) return { problem: `has an object with more than ${MAX_JSON_NAMES} names` }
      names[depth] = count
      quarters += 2
    } else if (code === END_OF_LIST || code === END_OF_RECORD) depth--
    else if (code === LIST || code === RECORD) {
      quarters += 4
      if (++depth > MAX_JSON_DEPTH) return { problem: `is nested more than ${MAX_JSON_DEPTH} levels deep` }
      names[depth] = 0
    }
    if (quarters > 4 * MAX_JSON_COST) return { problem: 'has too many values' }
  }
  return quarters / 4
}

/** Where the string that begins at `start` ends. */
function endOfString(text: string, start: number): number {
  let at = start + 1
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at
    if (code === BACKSLASH) at++
  }
  return at
}
