import type { ToolResult } from '../call/tool-result.ts'
import { plainCopy } from '../runtime/plain-value.ts'

/** The text of a result for a model: the value, or `Error: ` and what to do about it. Never throws. */
export function modelText(result: ToolResult, maxTextBytes: number): string {
  const text = result.success ? (result.text ?? textOf(result.result)) : failureText(result)
  return cutMiddle(text.toWellFormed(), maxTextBytes)
}

function failureText({ code, error, tool_name, diagnosis }: ToolResult & { success: false }): string {
  if (code === 'unknown_tool') return `Error: Unknown tool "${tool_name}"`
  const required = code === 'invalid_arguments' && diagnosis?.required
  return required ? `Error: ${error}. Required: ${required}` : `Error: ${error}`
}

const READABLE = { maxDepth: 100, maxEntries: 50_000, maxBytes: 10_000_000, maxValues: 500_000 }

/** Any value as text: strings as they are, objects as JSON, and a defined form for what JSON cannot express. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (value === undefined) return '(no result)'
  if (typeof value === 'function' || typeof value === 'symbol') return `(a ${typeof value})`
  if (typeof value !== 'object') return String(value)
  return JSON.stringify(plainCopy(value, READABLE).value)
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
