import type { ToolResult } from '../call/tool-result.ts'
import { plainCopy } from '../logging/plain-value.ts'

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
  return JSON.stringify(plainCopy(value, READABLE).value) ?? '(no result)'
}

/** Cuts where it hurts least: the beginning and the end of a long text say the most. */
function cutMiddle(text: string, maxBytes: number): string {
  if (text.length <= maxBytes / 4 || Buffer.byteLength(text) <= maxBytes) return text
  const bytes = Buffer.from(text)
  const half = Math.floor(maxBytes / 2)
  // Half a character at an edge becomes U+FFFD, and is removed.
  const head = bytes.toString('utf8', 0, half).replace(/\uFFFD+$/, '')
  const tail = bytes.toString('utf8', bytes.length - half).replace(/^\uFFFD+/, '')
  const missing = bytes.length - Buffer.byteLength(head) - Buffer.byteLength(tail)
  return `${head}\n… [${missing} of ${bytes.length} bytes left out] …\n${tail}`
}
