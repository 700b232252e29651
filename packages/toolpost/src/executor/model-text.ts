import type { ToolResult } from '../call/tool-result.ts'
import { JsonWriter } from '../runtime/json-writer.ts'
import { digitsOf } from '../runtime/plain-value.ts'

/** At most this many times the model's text limit is written. */
const MAX_WRITTEN = 4
/** Counting the bytes of a longer text would take too long. */
const MAX_COUNTED = 10_000_000

/** The text of a result for a model: the value, or `Error: ` and what to do about it. */
export function modelText(result: ToolResult, maxTextBytes: number): string {
  if (!result.success) return cutMiddle(failureText(result), maxTextBytes)
  return cutMiddle(result.text ?? textOf(result.result, MAX_WRITTEN * maxTextBytes), maxTextBytes)
}

function failureText({ code, error, tool_name, diagnosis }: ToolResult & { success: false }): string {
  if (code === 'unknown_tool') return `Error: Unknown tool "${tool_name}"`
  if (code === 'invalid_arguments' && diagnosis?.required)
    return `Error: ${error}. Required: ${diagnosis.required}`
  return `Error: ${error}`
}

/**
 * Any value as text: strings as they are, objects as JSON, and a defined form for what JSON cannot express. An object
 * takes little more than `maxChars`; the JSON notes that the rest was omitted.
 */
export function textOf(value: unknown, maxChars = Number.POSITIVE_INFINITY): string {
  if (typeof value === 'string') return value
  if (value === undefined) return '(no result)'
  if (typeof value === 'number') return String(value)
  if (typeof value === 'bigint') return digitsOf(value)
  if (typeof value === 'function' || typeof value === 'symbol') return `(a ${typeof value})`
  return new JsonWriter(value, { maxChars }).rest()
}

/** Cuts where it hurts least: the beginning and the end of a long text say the most. */
function cutMiddle(text: string, maxBytes: number): string {
  if (text.length <= maxBytes / 4) return text.toWellFormed()
  const isCounted = text.length <= MAX_COUNTED
  const bytes = isCounted ? Buffer.byteLength(text) : text.length
  if (bytes <= maxBytes) return text.toWellFormed()
  const half = Math.floor(maxBytes / 2)
  // Every character has at least one byte; one extra, so that the cut never splits a character.
  const start = Buffer.from(text.slice(0, half + 1))
  const end = Buffer.from(text.slice(-half - 1))
  const head = start.subarray(0, boundary(start, half))
  const tail = end.subarray(boundary(end, end.length - half))
  const missing = bytes - head.length - tail.length
  return `${head}\n… [${missing} of ${isCounted ? '' : 'about '}${bytes} bytes left out] …\n${tail}`
}

/** The start of the character at or before `at`. */
function boundary(buffer: Buffer, at: number): number {
  let start = at
  while (start > 0 && ((buffer[start] ?? 0) & 0xc0) === 0x80) start--
  return start
}
