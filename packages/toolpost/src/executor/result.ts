import type { ToolResult, ToolSuccess } from '../call/tool-result.ts'
import { isObjectLike, isRecord } from '../runtime/guards.ts'
import { ToolOutput } from '../tools/tool-output.ts'
import { classifyError } from './classify-error.ts'
import type { CallContext, Ending } from './context.ts'
import { cancelled, type Failure, timedOut } from './failure.ts'
import type { Plan } from './plan.ts'

/** Turns the ending of a call into its result, without its duration. May throw if reading the tool's value does. */
export function resultOf(ending: Ending, plan: Plan, context: CallContext): ToolResult {
  if (ending.kind !== 'value') return failureResult(failureOf(ending, plan, context), context)
  const result: ToolSuccess = {
    success: true,
    result: ending.value,
    tool_name: context.name,
    execution_time_ms: 0,
  }
  if (ending.value instanceof ToolOutput) takeApart(ending.value, result)
  else if (plan.hasContentBlocks) addText(result, ending.value)
  const { overdueMs } = context
  if (overdueMs > 0) {
    const deadline = `missed by ${Math.round(overdueMs)} ms: the tool blocked the event loop`
    result.diagnosis = { deadline }
    context.warn(`Deadline ${deadline}`)
  }
  return result
}

function takeApart(output: ToolOutput, result: ToolSuccess): void {
  result.result = output.value
  addText(result, output.content)
  if (!isToldByText(output)) result.content = output.content
  if (output.meta) result.meta = output.meta
}

function addText(result: ToolSuccess, content: unknown): void {
  const text = contentText(content)
  if (text !== undefined) result.text = text
}

/** Whether an object comes with a single plain text, which `text` already has. */
function isToldByText({ value, content }: ToolOutput): boolean {
  const [block, ...others] = content
  return isRecord(value) && others.length === 0 && block?.type === 'text' && Object.keys(block).length === 2
}

export function failureOf(
  ending: Exclude<Ending, { kind: 'value' }>,
  plan: Plan,
  { name }: CallContext,
): Failure {
  if (ending.kind === 'error') return classifyError(ending.error, plan.tool)
  return ending.kind === 'timeout' ? timedOut(name, ending.afterMs) : cancelled(name)
}

export function failureResult(failure: Failure, { name }: CallContext): ToolResult {
  const { error, code, diagnosis, retryAfterMs } = failure
  return {
    success: false,
    error,
    code,
    tool_name: name,
    execution_time_ms: 0,
    ...(diagnosis && { diagnosis }),
    ...(retryAfterMs !== undefined && { retry_after_ms: retryAfterMs }),
  }
}

/**
 * The text of an MCP tool's return value, ours or an adapter's: content blocks, `[content, artifacts]`, or an object
 * around them. `undefined` if the value is none of these.
 */
export function contentText(value: unknown): string | undefined {
  if (isPair(value)) return typeof value[0] === 'string' ? value[0] : contentText(value[0])
  if (Array.isArray(value)) return value.every(isBlock) ? value.map(blockText).join('\n') : undefined
  if (!isObjectLike(value)) return undefined
  const { content } = value as { content?: unknown }
  if (Array.isArray(content) && content.length > 0) return contentText(content)
  return isBlock(value) ? blockText(value) : undefined
}

interface Block {
  type: string
  text?: unknown
  mimeType?: unknown
  uri?: unknown
  name?: unknown
  resource?: { text?: unknown; uri?: unknown; mimeType?: unknown }
}

const BLOCK_TYPES = new Set(['text', 'image', 'image_url', 'audio', 'resource', 'resource_link', 'file'])

function isPair(value: unknown): value is [unknown, unknown] {
  if (!Array.isArray(value) || value.length !== 2 || isBlock(value[1])) return false
  return typeof value[0] === 'string' || (Array.isArray(value[0]) && value[0].every(isBlock))
}

function isBlock(value: unknown): value is Block {
  return isObjectLike(value) && BLOCK_TYPES.has((value as { type?: unknown }).type as string)
}

function blockText(block: Block): string {
  if (typeof block.text === 'string') return block.text
  const { resource } = block
  if (typeof resource?.text === 'string') return resource.text
  const kind = block.type === 'image_url' ? 'image' : block.type.replace('_', ' ')
  const details = [block.name, block.uri ?? resource?.uri, block.mimeType ?? resource?.mimeType]
  const shown = details.filter(detail => typeof detail === 'string')
  return `[${[kind, ...shown].join(' ')}]`
}
