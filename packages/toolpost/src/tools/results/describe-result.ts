import { isRecord } from '../../runtime/guards.ts'
import { parseInSlices } from '../../runtime/sliced-json.ts'

const MAX_KEYS = 20
/** Longer JSON is described as text; its reader can still ask for a path. */
const MAX_JSON_CHARS = 16_000_000
const MAX_JSON_VALUES = 1_000_000

/** The value of a JSON text, which many servers return; `undefined` if it is not JSON. */
export async function jsonIn(text: string): Promise<unknown> {
  const isLikely = /^\s?[[{]/.test(text.slice(0, 2)) && text.length <= MAX_JSON_CHARS
  if (!isLikely) return undefined
  return parseInSlices(text, { maxValues: MAX_JSON_VALUES }).catch(() => undefined)
}

/** One line about the structure of a result: keys and counts of JSON, lines of text. */
export function shapeOf(value: unknown, text: string): string {
  if (Array.isArray(value))
    return `a list of ${counted(value.length, 'entry', 'entries')}${entryKeys(value[0])}`
  if (isRecord(value)) return `an object with ${keysOf(value)}`
  return `text of ${counted(linesOf(text), 'line', 'lines')}`
}

function entryKeys(first: unknown): string {
  return isRecord(first) ? `, the first one with ${keysOf(first)}` : ''
}

function keysOf(record: Record<string, unknown>): string {
  const keys = Object.keys(record)
  const shown = keys.slice(0, MAX_KEYS).map(key => `${key} (${kindOf(record[key])})`)
  const more = keys.length - shown.length
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more keys` : ''}`
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return `list of ${value.length.toLocaleString('en-US')}`
  if (isRecord(value)) return `object of ${Object.keys(value).length.toLocaleString('en-US')}`
  return value === null ? 'null' : typeof value === 'string' ? 'text' : typeof value
}

function counted(count: number, one: string, many: string): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`
}

function linesOf(text: string): number {
  let lines = 1
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines++
  return lines
}

/** The beginning and the end of a text, without splitting a character. */
export function endsOf(text: string, headChars: number, tailChars: number): { head: string; tail: string } {
  return {
    head: text.slice(0, headChars).replace(/[\ud800-\udbff]$/, ''),
    tail: text.slice(-tailChars).replace(/^[\udc00-\udfff]/, ''),
  }
}
