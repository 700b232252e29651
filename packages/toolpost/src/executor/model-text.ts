import type { ToolResult } from '../call/tool-result.ts'
import { jsonText } from '../runtime/json-text.ts'
import { describeThrown } from '../runtime/quietly.ts'

/** What a model reads of a result: the value as text, or `Error: ` and what to do about it. */
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

/** Any value as text. Strings as they are, objects as JSON, and a defined form for what JSON cannot say. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (value === undefined) return '(no result)'
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  if (typeof value === 'function' || typeof value === 'symbol') return `(a ${typeof value})`
  try {
    return jsonText(value) ?? '(no result)'
  } catch (error) {
    return `(the result cannot be shown: ${describeThrown(error)})`
  }
}

/** Cut where it hurts least: the beginning and the end of a long text say the most. */
function cutMiddle(text: string, maxBytes: number): string {
  if (text.length <= maxBytes / 4) return text
  const bytes = Buffer.byteLength(text)
  if (bytes <= maxBytes) return text
  const buffer = Buffer.from(text)
  const half = Math.floor(maxBytes / 2)
  const head = buffer.subarray(0, boundary(buffer, half))
  const tail = buffer.subarray(boundary(buffer, bytes - half))
  const missing = bytes - head.length - tail.length
  return `${head}\n… [${missing} of ${bytes} bytes left out] …\n${tail}`
}

/** The last start of a character at or before `at`. */
function boundary(buffer: Buffer, at: number): number {
  let start = at
  while (start > 0 && ((buffer[start] ?? 0) & 0xc0) === 0x80) start--
  return start
}
