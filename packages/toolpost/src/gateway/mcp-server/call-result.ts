import type { CallToolResult } from '@modelcontextprotocol/server'
import type { ToolFailure, ToolResult, ToolSuccess } from '../../call/tool-result.ts'
import { textOf } from '../../executor/model-text.ts'
import { INVALID_PARAMS, RpcError } from '../../mcp/peer.ts'
import type { Tool } from '../../tools/tool.ts'
import type { ToolManager } from '../../tools/tool-manager.ts'
import { BLOCK_TYPES } from '../../tools/tool-output.ts'
import { isObjectLike, isRecord } from '../../util/guards.ts'
import { MISSING_CAPABILITY } from './protocol.ts'

/** The result of a call in MCP's format. Throws an RpcError for failures that are errors of the protocol. */
export function callResult(
  result: ToolResult,
  tool: Tool | undefined,
  { tools, isNewest }: { tools: ToolManager; isNewest: boolean },
): object {
  if (!result.success) return failureAnswer(result, isNewest)
  const isServer = tool !== undefined && tools.originOf(tool) !== undefined
  const hasSchema = tool?.outputSchema !== undefined
  const answer: Record<string, unknown> = { ...result.extra, content: contentOf(result, isServer) }
  const structured = structuredOf(result, { isNewest, isServer, hasSchema })
  if (structured !== undefined) answer.structuredContent = structured
  if (result.meta) answer._meta = result.meta
  return answer
}

export function failedResult(text: string): CallToolResult {
  return { isError: true, content: [textBlock(text)] }
}

function failureAnswer({ code, error, diagnosis }: ToolFailure, isNewest: boolean): CallToolResult {
  const { suggestions = [], required, details } = diagnosis ?? {}
  const hint = suggestions.length > 0 ? `. Did you mean ${suggestions.join(', ')}?` : ''
  if (code === 'unknown_tool') throw new RpcError(`${error}${hint}`, { code: INVALID_PARAMS })
  const rpc = isRecord(details?.rpc) ? details.rpc : {}
  if (isNewest && rpc.code === MISSING_CAPABILITY)
    throw new RpcError(error, { code: MISSING_CAPABILITY, data: rpc.data })
  return failedResult(code === 'invalid_arguments' && required ? `${error}. Required: ${required}` : error)
}

type Block = CallToolResult['content'][number]

/** Whether a value is content in MCP's format; of `types` only, if nothing else is known of it. */
function areBlocks(value: unknown, types?: ReadonlySet<unknown>): value is Block[] {
  const isBlock = (block: unknown) =>
    isRecord(block) && typeof block.type === 'string' && (types?.has(block.type) ?? true)
  return Array.isArray(value) && value.length > 0 && value.every(isBlock)
}

/** What came from an MCP server is passed on unchanged. */
function contentOf({ result: value, content, text }: ToolSuccess, isServer: boolean): Block[] {
  if (areBlocks(content)) return content
  return isServer && areBlocks(value, BLOCK_TYPES) ? value : [textBlock(text ?? textOf(value))]
}

/** Structured content: an object in the older protocols, any JSON in the newest. Required if a schema was announced. */
function structuredOf(
  { result: value, content, text }: ToolSuccess,
  { isNewest, isServer, hasSchema }: { isNewest: boolean; isServer: boolean; hasSchema: boolean },
): unknown {
  if (!isServer && !hasSchema) return undefined
  if (isObjectLike(value) && [Object.prototype, null].includes(Object.getPrototypeOf(value) as object)) {
    // A copy that can be sent: what JSON cannot express becomes text.
    const copy: unknown = JSON.parse(textOf(value))
    return isRecord(copy) ? copy : undefined
  }
  const isText = typeof value === 'string' && (!content || (value === text && !hasSchema))
  const isRaw = content ? content === value : areBlocks(value, BLOCK_TYPES)
  return !isServer || !isNewest || isText || isRaw ? undefined : value
}

function textBlock(text: string): Block {
  return { type: 'text', text: text.toWellFormed() }
}
