import type { CallToolResult } from '@modelcontextprotocol/server'
import type { ToolFailure, ToolResult, ToolSuccess } from '../../call/tool-result.ts'
import { textOf } from '../../executor/model-text.ts'
import { isObjectLike } from '../../runtime/guards.ts'

/** Where a result comes from, and how its client wants it. */
export interface ToolSource {
  isServer: boolean
  /** Clients require structured content if a schema for it was announced. */
  hasOutputSchema: boolean
  /** Structured content is an object in the older protocols, any JSON in the newest. */
  isNewest?: boolean | undefined
}

type Content = CallToolResult['content']
type Structured = Record<string, unknown>

/**
 * A result in MCP's format. What came from an MCP server is passed on unchanged: its blocks, its structured content, its
 * own error message.
 */
export function toolAnswer(result: ToolResult, source: ToolSource): CallToolResult {
  if (!result.success) return { isError: true, content: text(failureText(result)) }
  const answer = source.isServer ? serverAnswer(result, source) : ownAnswer(result, source.hasOutputSchema)
  return result.meta ? { ...answer, _meta: result.meta } : answer
}

function serverAnswer(result: ToolSuccess, source: ToolSource): CallToolResult {
  const { result: value, content, text: given } = result
  if (isContent(value) && (!content || content === value)) return { content: value }
  const answer = ownAnswer(result, true)
  const isText = typeof value === 'string' && (!content || (value === given && !source.hasOutputSchema))
  return isPlainObject(value) || isText || !source.isNewest
    ? answer
    : { ...answer, structuredContent: value as Structured }
}

function ownAnswer(
  { result: value, text: given, content }: ToolSuccess,
  isStructured: boolean,
): CallToolResult {
  const shown = isContent(content) ? content : text(given ?? textOf(value))
  return isStructured && isPlainObject(value)
    ? { content: shown, structuredContent: plain(value) }
    : { content: shown }
}

/** A copy that can be sent: what JSON cannot express becomes text. */
function plain(value: object): Structured {
  const copy: unknown = JSON.parse(textOf(value))
  return isPlainObject(copy) ? (copy as Structured) : {}
}

function failureText({ code, error, diagnosis }: ToolFailure): string {
  const required = code === 'invalid_arguments' ? diagnosis?.required : undefined
  return required ? `${error}. Required: ${required}` : error
}

function text(given: string): Content {
  return [{ type: 'text', text: given.toWellFormed() }]
}

const BLOCK_TYPES = new Set(['text', 'image', 'audio', 'resource', 'resource_link'])

function isContent(value: unknown): value is Content {
  return Array.isArray(value) && value.length > 0 && value.every(isBlock)
}

function isBlock(value: unknown): boolean {
  return isObjectLike(value) && BLOCK_TYPES.has((value as { type?: unknown }).type as string)
}

function isPlainObject(value: unknown): value is object {
  if (!isObjectLike(value) || Array.isArray(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
