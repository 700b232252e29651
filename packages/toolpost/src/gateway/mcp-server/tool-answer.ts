import type { CallToolResult } from '@modelcontextprotocol/server'
import type { ToolFailure, ToolResult, ToolSuccess } from '../../call/tool-result.ts'
import { textOf } from '../../executor/model-text.ts'
import { blocksOf, type KeptParts } from '../../tools/results/big-results.ts'
import { isObjectLike, isRecord } from '../../util/guards.ts'
import { jsonText } from '../http.ts'
import { MAX_INLINE_BINARY, MAX_MCP_ANSWER_BYTES } from '../limits.ts'

/** Where a result comes from, and how its client wants it. */
export interface ToolSource {
  isServer: boolean
  /** Clients require structured content if a schema for it was announced. */
  hasOutputSchema: boolean
  /** Structured content is an object in the older protocols, any JSON in the newest. */
  isNewest: boolean
}

type Block = CallToolResult['content'][number]

/** A result in MCP's format. What came from an MCP server is passed on unchanged. */
export function toolAnswer(result: ToolResult, source: ToolSource): CallToolResult {
  if (!result.success) return { isError: true, content: [textBlock(failureText(result))] }
  const { result: value, content, meta } = result
  const isRaw = source.isServer && isContent(value) && (!content || content === value)
  const shown = isContent(content) ? content : isRaw ? value : [textBlock(result.text ?? textOf(value))]
  return {
    content: shown,
    ...(!isRaw && structuredOf(result, source)),
    ...(meta && { _meta: meta }),
  }
}

function structuredOf({ result: value, content, text }: ToolSuccess, source: ToolSource) {
  const { isServer, hasOutputSchema, isNewest } = source
  if (isPlainObject(value)) {
    // A copy that can be sent: what JSON cannot express becomes text.
    const copy: unknown = isServer || hasOutputSchema ? JSON.parse(textOf(value)) : undefined
    return isRecord(copy) && { structuredContent: copy }
  }
  const isText = typeof value === 'string' && (!content || (value === text && !hasOutputSchema))
  return isServer && isNewest && !isText && { structuredContent: value as Record<string, unknown> }
}

function failureText({ code, error, diagnosis }: ToolFailure): string {
  const required = code === 'invalid_arguments' ? diagnosis?.required : undefined
  return required ? `${error}. Required: ${required}` : error
}

const BLOCK_TYPES = new Set(['text', 'image', 'audio', 'resource', 'resource_link'])

function isContent(value: unknown): value is Block[] {
  const isBlock = (block: unknown) =>
    isObjectLike(block) && BLOCK_TYPES.has((block as { type?: unknown }).type as string)
  return Array.isArray(value) && value.length > 0 && value.every(isBlock)
}

function isPlainObject(value: unknown): value is object {
  if (!isObjectLike(value) || Array.isArray(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/**
 * A kept result in MCP's format: a summary for the model, and links to the whole if the client supports them. Structured
 * content stays if a schema for it was announced, because clients then require it.
 */
export function longAnswer(
  result: ToolSuccess,
  { kept, source, hasLinks }: { kept: KeptParts; source: ToolSource; hasLinks: boolean },
): CallToolResult {
  const parts = [...(kept.text ? [kept.text] : []), ...kept.binaries]
  const name = `result of ${result.tool_name.toWellFormed()}`
  const links = parts.map(
    ({ handle, mimeType, bytes }): Block => ({
      type: 'resource_link',
      uri: handle,
      name,
      mimeType,
      size: bytes,
    }),
  )
  const content = [
    ...(kept.text ? [textBlock(kept.text.summary)] : []),
    ...otherBlocks(result, kept),
    ...(hasLinks ? links : []),
  ]
  const answer = { content, ...(result.meta && { _meta: result.meta }) }
  const structured = source.hasOutputSchema && structuredOf(result, source)
  if (!structured) return answer
  // Too large to send: without it, clients accept only an error.
  const isTooLarge = jsonText(structured).length > MAX_MCP_ANSWER_BYTES / 2
  return isTooLarge ? { ...answer, isError: true } : { ...answer, ...structured }
}

/** The blocks outside the text; those too long to send become a summary. */
function otherBlocks({ kept: parts = [], ...result }: ToolSuccess, kept: KeptParts): Block[] {
  return blocksOf(result).flatMap((block, at) => {
    if (!isRecord(block)) return []
    const { type, data, resource } = block
    const { text, blob } = isRecord(resource) ? resource : {}
    if (kept.text && (type === 'text' || (type === 'resource' && typeof text === 'string'))) return []
    const summary = kept.binaries[parts.findIndex(each => each.block === at)]?.summary
    const isLong = String(data ?? blob ?? '').length > MAX_INLINE_BINARY
    return summary !== undefined && isLong ? [textBlock(summary)] : [block as Block]
  })
}

function textBlock(text: string): Block {
  return { type: 'text', text: text.toWellFormed() }
}
