import { isRecord } from '../runtime/guards.ts'
import { ToolOutput } from '../tools/tool-output.ts'
import { RpcError } from './peer.ts'

interface Block {
  type: string
  text?: unknown
  [field: string]: unknown
}

/**
 * The value of a `tools/call` result: the structured content if there is some, else the text if all blocks are text, else
 * the content blocks; together with the blocks if they say more. Throws the server's own message for `isError`, and ours if
 * the result is malformed.
 */
export function valueOfResult(result: unknown): unknown {
  if (!isRecord(result)) throw malformed(`the result is ${kindOf(result)}, not an object`)
  const { content, structuredContent, toolResult } = result
  // Anything but false means that the tool failed.
  const isError = result.isError !== undefined && result.isError !== null && result.isError !== false
  const blocks = blocksOf(content, structuredContent !== undefined || toolResult !== undefined || isError)
  if (isError) throw new RpcError(errorText(blocks, structuredContent))
  // Servers of the oldest protocol answer with `toolResult` and no content.
  if (content === undefined && toolResult !== undefined) return toolResult
  const meta = metaOf(result._meta)
  const value = structuredContent === undefined ? valueOfBlocks(blocks) : structuredContent
  if (structuredContent === undefined && !meta && !blocks.every(isText)) return value
  const saysMore = structuredContent === undefined ? !isPlainText(blocks) : blocks.length > 0
  return saysMore || meta ? new ToolOutput(value, blocks, meta) : value
}

function valueOfBlocks(blocks: Block[]): unknown {
  return blocks.every(isText) ? textOf(blocks) : blocks
}

/** Leaves out the protocol's own keys. */
function metaOf(meta: unknown): Record<string, unknown> | undefined {
  if (!isRecord(meta)) return undefined
  const names = Object.keys(meta)
  const own = names.filter(name => !name.startsWith(PROTOCOL))
  if (own.length === 0) return undefined
  // Usually there are none; copying many keys is slow.
  return own.length === names.length ? meta : Object.fromEntries(own.map(name => [name, meta[name]]))
}

const PROTOCOL = 'io.modelcontextprotocol/'

/** Whether there is nothing but text. */
function isPlainText(blocks: readonly Block[]): boolean {
  const [block, ...others] = blocks
  return !block || (others.length === 0 && Object.keys(block).length === 2)
}

function blocksOf(content: unknown, mayBeMissing: boolean): Block[] {
  if (content === undefined && mayBeMissing) return []
  if (!Array.isArray(content)) throw malformed(`'content' is ${kindOf(content)}, not a list`)
  content.forEach((block, at) => {
    if (!isRecord(block) || typeof block.type !== 'string')
      throw malformed(`content block ${at + 1} has no type`)
    if (block.type === 'text' && typeof block.text !== 'string')
      throw malformed(`content block ${at + 1} has no text`)
  })
  return content as Block[]
}

function errorText(blocks: Block[], structuredContent: unknown): string {
  const text = textOf(blocks.filter(isText))
  if (text.trim() !== '') return text
  return structuredContent === undefined
    ? 'The tool reported an error without a message'
    : JSON.stringify(structuredContent)
}

function isText(block: Block): block is Block & { text: string } {
  return block.type === 'text'
}

function textOf(blocks: readonly Block[]): string {
  return blocks.length === 1
    ? (blocks[0] as { text: string }).text
    : blocks.map(block => block.text).join('\n')
}

function malformed(problem: string): RpcError {
  return new RpcError(`Malformed MCP result: ${problem}`)
}

/** The kind of a value, for error messages. */
export function kindOf(value: unknown): string {
  if (value === undefined) return 'missing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** A result that asks for input first. */
type Unfinished = { inputRequests?: unknown; requestState?: unknown }

/** Servers of the newest protocol ask for input in place of a result; the call is then repeated with it. */
export function needsInput(result: unknown): result is Unfinished {
  return isRecord(result) && result.resultType === 'input_required'
}

/** Whether the server returned a task in place of a result. */
export function isTask(result: unknown): boolean {
  return isRecord(result) && result.resultType === 'task'
}

export { RpcError as McpCallError }
