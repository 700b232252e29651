import type { ToolResult } from '../call/tool-result.ts'
import { plainCopy } from '../runtime/plain-value.ts'

/** The text of a result for a model: the value, or `Error: ` and what to do about it. Never throws. */
export function modelText(result: ToolResult, maxTextBytes: number): string {
  const text = result.success ? (result.text ?? textOf(result.result)) : failureText(result)
  return cutMiddle(text.toWellFormed(), maxTextBytes)
}

function failureText({ code, error, tool_name, diagnosis }: ToolResult & { success: false }): string {
  if (code === 'unknown_tool') return `Error: Unknown tool "${tool_name}"`
  if (code === 'invalid_arguments' && diagnosis?.required)
    return `Error: ${error}. Required: ${diagnosis.required}`
  return `Error: ${error}`
}

/** Any value as text: strings as they are, objects as JSON, and a defined form for what JSON cannot express. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (value === undefined) return '(no result)'
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  if (typeof value === 'function' || typeof value === 'symbol') return `(a ${typeof value})`
  try {
    return JSON.stringify(value, jsonForm()) ?? String(value)
  } catch {
    // It throws when it is read, or is nested too deep.
    return JSON.stringify(plainCopy(value, READABLE).value)
  }
}

const MAX_VALUES = 500_000
const READABLE = { maxDepth: 100, maxEntries: 10_000, maxBytes: 1_000_000, maxValues: 100_000 }

/** A replacer for JSON.stringify: nothing becomes `null` or disappears silently, and cycles end. */
function jsonForm(): (this: unknown, key: string, value: unknown) => unknown {
  const path: unknown[] = []
  let values = 0
  return function (key, value) {
    // Objects that contain the same ones again and again would be written without end.
    if (++values > MAX_VALUES) throw new RangeError('too many values')
    while (path.length > 0 && path.at(-1) !== this) path.pop()
    // What `toJSON` made of it may be longer: a Buffer becomes a list of numbers.
    const original = (this as Record<string, unknown>)[key]
    const plain = plainForm(ArrayBuffer.isView(original) ? original : value)
    if (typeof plain !== 'object' || plain === null) return plain
    if (path.includes(plain)) return '[circular]'
    path.push(plain)
    return plain
  }
}

function plainForm(value: unknown): unknown {
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
  if (typeof value === 'bigint') return String(value)
  if (value instanceof Map || value instanceof Set) return [...value]
  if (value instanceof Error) return { name: value.name, message: value.message }
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`
  return value
}

/** Cuts where it hurts least: the beginning and the end of a long text say the most. */
function cutMiddle(text: string, maxBytes: number): string {
  if (text.length <= maxBytes / 4) return text
  const bytes = Buffer.from(text)
  if (bytes.length <= maxBytes) return text
  const half = Math.floor(maxBytes / 2)
  const head = bytes.subarray(0, boundary(bytes, half))
  const tail = bytes.subarray(boundary(bytes, bytes.length - half))
  const missing = bytes.length - head.length - tail.length
  return `${head}\n… [${missing} of ${bytes.length} bytes left out] …\n${tail}`
}

/** The start of the character at or before `at`. */
function boundary(bytes: Buffer, at: number): number {
  let start = at
  while (start > 0 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start--
  return start
}
