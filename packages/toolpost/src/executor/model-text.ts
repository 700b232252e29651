import type { ToolResult } from '../call/tool-result.ts'
import { isObjectLike } from '../runtime/guards.ts'
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
    return JSON.stringify(value, speakable([])) ?? '(no result)'
  } catch (error) {
    return `(the result cannot be shown: ${describeThrown(error)})`
  }
}

/** A JSON replacer that says what JSON would drop, turn into null or throw on. `path` is where it stands. */
function speakable(path: object[]) {
  return function (this: unknown, _key: string, value: unknown): unknown {
    if (typeof value === 'bigint') return String(value)
    if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
    if (!isObjectLike(value)) return value
    while (path.length > 0 && path.at(-1) !== this) path.pop()
    if (path.includes(value)) return '[circular]'
    path.push(value)
    return plainForm(value, path)
  }
}

function plainForm(value: object, path: object[]): unknown {
  let plain: object | string = value
  if (value instanceof Map) plain = [...value.entries()]
  else if (value instanceof Set) plain = [...value]
  else if (value instanceof Error) plain = { name: value.name, message: value.message }
  else if (ArrayBuffer.isView(value)) plain = `[${value.byteLength} bytes]`
  if (plain !== value && isObjectLike(plain)) path.push(plain)
  return plain
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
