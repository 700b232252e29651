import { types } from 'node:util'
import type { ToolResult, ToolSuccess } from '../call/tool-result.ts'
import { plainCopy } from '../logging/plain-value.ts'
import { ToolOutput } from '../tools/tool-output.ts'
import { rounded } from '../util/clock.ts'
import { isObjectLike, isRecord } from '../util/guards.ts'
import type { CallContext } from './context.ts'
import type { Failure } from './failure.ts'

/** The result of a call whose tool ended. */
export function resultOf(context: CallContext, failure: Failure | undefined, value?: unknown): ToolResult {
  context.mark('invoke')
  if (failure) return failureResult(failure, context)
  const { name, stageEnd, startedAt, deadlineAt } = context
  const execution_time_ms = rounded(stageEnd - startedAt)
  const result: ToolSuccess = { success: true, result: value, tool_name: name, execution_time_ms }
  context.result = result
  if (isObjectLike(value)) takeApart(value, result, context)
  const lateMs = stageEnd - deadlineAt
  if (lateMs >= 1) {
    const deadline = `missed by ${Math.round(lateMs)} ms: the tool blocked the event loop`
    result.diagnosis = { deadline }
    context.warn(`Deadline ${deadline}`)
  }
  return result
}

export function failureResult(failure: Failure, context: CallContext): ToolResult {
  const { error, code, diagnosis, retryAfterMs } = failure
  const { name: tool_name, elapsedMs: execution_time_ms } = context
  const result: ToolResult = { success: false, error, code, tool_name, execution_time_ms }
  if (diagnosis) result.diagnosis = diagnosis
  if (retryAfterMs !== undefined) result.retry_after_ms = Math.ceil(retryAfterMs)
  context.result = result
  return result
}

function takeApart(value: object, result: ToolSuccess, { mcp, tool }: CallContext): void {
  const isOutput = value instanceof ToolOutput
  const own = isOutput ? value.value : value
  result.result = hasTraps(own) ? plainCopy(own, COPIED).value : own
  const hasContent = isOutput || mcp !== undefined || tool?.responseFormat === 'content_and_artifact'
  const text = hasContent ? contentText(isOutput ? value.content : result.result) : undefined
  if (text !== undefined) result.text = text
  if (!isOutput) return
  // Unless an object comes with a single plain text, which `text` already has.
  const [block, ...others] = value.content
  const isPlain = others.length === 0 && block?.type === 'text' && Object.keys(block).length === 2
  if (!isPlain || !isRecord(value.value)) result.content = value.content
  if (value.meta) result.meta = value.meta
  if (value.extra) result.extra = value.extra
}

const MAX_READ = 100_000
const COPIED = { maxDepth: 500, maxEntries: MAX_READ, maxBytes: 10_000_000, maxValues: MAX_READ }

/** Whether it has getters or is a proxy: those may return something else, or throw, whenever the result is read later. */
function hasTraps(value: unknown, depth = 0, walk = { left: MAX_READ }): boolean {
  if (!isObjectLike(value) || ArrayBuffer.isView(value) || depth > COPIED.maxDepth || --walk.left < 0)
    return false
  if (types.isProxy(value)) return true
  if (Array.isArray(value)) return value.slice(0, MAX_READ).some(entry => hasTraps(entry, depth + 1, walk))
  return Object.keys(value).some(key => {
    const property = Object.getOwnPropertyDescriptor(value, key)
    return property?.get !== undefined || hasTraps(property?.value, depth + 1, walk)
  })
}

/** The text of what an MCP tool returns: content blocks, `[content, artifacts]`, or an object around them. */
function contentText(value: unknown): string | undefined {
  if (isPair(value)) return typeof value[0] === 'string' ? value[0] : contentText(value[0])
  if (Array.isArray(value)) return value.every(isBlock) ? value.map(blockText).join('\n') : undefined
  if (!isObjectLike(value)) return undefined
  const { content } = value as { content?: unknown }
  if (Array.isArray(content) && content.length > 0) return contentText(content)
  return isBlock(value) ? blockText(value) : undefined
}

type Block = Record<string, unknown> & { type: string }

const BLOCK_TYPE = /^(?:text|image|image_url|audio|resource|resource_link|file)$/

function isPair(value: unknown): value is [unknown, unknown] {
  if (!Array.isArray(value) || value.length !== 2 || isBlock(value[1])) return false
  return typeof value[0] === 'string' || (Array.isArray(value[0]) && value[0].every(isBlock))
}

function isBlock(value: unknown): value is Block {
  return isRecord(value) && typeof value.type === 'string' && BLOCK_TYPE.test(value.type)
}

function blockText({ type, text, resource, name, uri, mimeType }: Block): string {
  const inner = isRecord(resource) ? resource : {}
  const said = [text, inner.text].find(each => typeof each === 'string')
  if (said !== undefined) return said as string
  const kind = type === 'image_url' ? 'image' : type.replace('_', ' ')
  const details = [name, uri ?? inner.uri, mimeType ?? inner.mimeType]
  return `[${[kind, ...details.filter(detail => typeof detail === 'string')].join(' ')}]`
}
