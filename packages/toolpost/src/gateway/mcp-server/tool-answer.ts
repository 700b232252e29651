import type { CallToolResult } from '@modelcontextprotocol/server'
import type { ToolFailure, ToolResult } from '../../call/tool-result.ts'
import { textOf } from '../../executor/model-text.ts'
import { isObjectLike } from '../../runtime/guards.ts'

/** Whose result it is. */
export interface ToolSource {
  isServer: boolean
  /** Clients want structured content if a schema for it was announced. */
  hasOutputSchema: boolean
  /** Structured content of the older protocols is an object; that of the newest is any JSON. */
  isNewest?: boolean | undefined
}

type Content = CallToolResult['content']
type Structured = Record<string, unknown>

/**
 * A result as MCP has it. What came from an MCP server goes on as it came: its blocks, its structured content, its own
 * words if it failed.
 */
export function toolAnswer(result: ToolResult, source: ToolSource): CallToolResult {
  if (!result.success) return { isError: true, content: text(failureText(result)) }
  const { result: value, content, text: given } = result
  if (!source.isServer)
    return { ...ownAnswer(value, given, source.hasOutputSchema), ...(isContent(content) && { content }) }
  if (isContent(content))
    return isPlainObject(value) || source.isNewest
      ? { content, structuredContent: value as Structured }
      : { content }
  return isContent(value) ? { content: value } : ownAnswer(value, given, true)
}

function ownAnswer(value: unknown, given: string | undefined, isStructured: boolean): CallToolResult {
  const content = text(given ?? textOf(value))
  return isStructured && isPlainObject(value) ? { content, structuredContent: plain(value) } : { content }
}

/** As it can be sent: what JSON cannot say is said in words. */
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
