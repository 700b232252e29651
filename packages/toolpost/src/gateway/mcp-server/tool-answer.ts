import type { CallToolResult } from '@modelcontextprotocol/server'
import type { ToolFailure, ToolResult, ToolSuccess } from '../../call/tool-result.ts'
import { textOf } from '../../executor/model-text.ts'
import { isObjectLike, isRecord } from '../../runtime/guards.ts'
import type { KeptParts } from '../../tools/results/big-results.ts'
import { blocksOf } from '../../tools/results/big-results.ts'
import type { KeptResult } from '../../tools/results/result-store.ts'
import { jsonText } from '../http.ts'
import { MAX_INLINE_BINARY, MAX_MCP_ANSWER_BYTES } from '../limits.ts'

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

type Block = CallToolResult['content'][number]

export interface LongAnswerOptions {
  kept: KeptParts
  source: ToolSource
  /** Whether the client supports resource links. */
  hasLinks: boolean
}

/**
 * A kept result in MCP's format: a summary for the model, and links to the whole. Structured content stays if a schema
 * for it was announced, because clients then require it.
 */
export function longAnswer(
  result: ToolSuccess,
  { kept, source, hasLinks }: LongAnswerOptions,
): CallToolResult {
  const links = hasLinks ? [...(kept.text ? [kept.text] : []), ...kept.binaries].map(linkTo(result)) : []
  const content = [
    ...(kept.text ? [textBlock(kept.text.summary)] : []),
    ...otherBlocks(result, kept),
    ...links,
  ]
  const answer = { content, ...(result.meta && { _meta: result.meta }) }
  if (!source.hasOutputSchema) return answer
  const { structuredContent } = toolAnswer({ ...result, text: '', content: [] }, source)
  if (structuredContent === undefined) return answer
  // Too large to send: without it, clients accept only an error.
  const isTooLarge = jsonText(structuredContent).length > MAX_MCP_ANSWER_BYTES / 2
  return isTooLarge ? { ...answer, isError: true } : { ...answer, structuredContent }
}

/** The blocks outside the text; those too long to send become a summary. */
function otherBlocks({ kept: parts = [], ...result }: ToolSuccess, kept: KeptParts): Block[] {
  return blocksOf(result).flatMap((block, at) => {
    if (!isRecord(block) || (kept.text && isTextual(block))) return []
    const part = parts.findIndex(each => each.block === at)
    const summary = kept.binaries[part]?.summary
    return summary !== undefined && dataOf(block).length > MAX_INLINE_BINARY
      ? [textBlock(summary)]
      : [block as Block]
  })
}

function isTextual({ type, resource }: Record<string, unknown>): boolean {
  return type === 'text' || (type === 'resource' && isRecord(resource) && typeof resource.text === 'string')
}

function dataOf({ data, resource }: Record<string, unknown>): string {
  return String(data ?? (isRecord(resource) ? resource.blob : ''))
}

function textBlock(text: string): Block {
  return { type: 'text', text: text.toWellFormed() }
}

function linkTo({ tool_name: tool }: ToolSuccess): (kept: KeptResult) => Block {
  return ({ handle: uri, mimeType, bytes: size }) => ({
    type: 'resource_link',
    uri,
    name: `result of ${tool.toWellFormed()}`,
    mimeType,
    size,
  })
}
