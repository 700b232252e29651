import { MAX_JSON_COST } from '../limits.ts'

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const LIST = 0x5b
const RECORD = 0x7b

/**
 * Whether a text has more lists, records and values than `JSON.parse`, which cannot be interrupted, and whoever looks at
 * them afterwards get through in a moment: 4 MB of `[` or `{},` take seconds.
 */
export function isDear(text: string): boolean {
  let cost = 0
  // What is shorter cannot cost as much.
  if (text.length <= MAX_JSON_COST) return false
  for (let at = 0; at < text.length && cost <= 4 * MAX_JSON_COST; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
    else if (code === COMMA) cost++
    else if (code === LIST || code === RECORD) cost += 4
  }
  return cost > 4 * MAX_JSON_COST
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
