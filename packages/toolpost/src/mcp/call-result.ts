import { kindOf } from '../schema/explain.ts'
import { BLOCK_TYPES, type ContentBlock, ToolOutput } from '../tools/tool-output.ts'
import { isRecord } from '../util/guards.ts'
import { RpcError } from './peer.ts'

/** Reserved for the protocol itself. */
const PROTOCOL = 'io.modelcontextprotocol/'

/**
 * The value of a `tools/call` result: the structured content if there is some, else the text if all blocks are text, else
 * the content blocks; together with the blocks if they say more. Throws the server's own message for `isError`, and ours if
 * the result is malformed.
 */
export function valueOfResult(result: unknown): unknown {
  if (!isRecord(result)) throw malformed(`the result must be object, got ${kindOf(result)}`)
  const { content, structuredContent, isError, _meta, resultType: _, ...others } = result
  // Anything but false means that the tool failed.
  const hasFailed = isError !== undefined && isError !== null && isError !== false
  const mayBeMissing = structuredContent !== undefined || hasFailed
  const blocks = content === undefined && mayBeMissing ? [] : blocksOf(content)
  if (hasFailed) {
    const text = textOf(blocks.filter(({ type }) => type === 'text'))
    const fallback = JSON.stringify(structuredContent) ?? 'The tool reported an error without a message'
    throw new RpcError(text.trim() === '' ? fallback : text)
  }
  const own = Object.entries(isRecord(_meta) ? _meta : {}).filter(([name]) => !name.startsWith(PROTOCOL))
  const meta = own.length > 0 ? Object.fromEntries(own) : undefined
  const extra = Object.keys(others).length > 0 ? others : undefined
  const isMore = meta !== undefined || extra !== undefined
  const output = (value: unknown) => new ToolOutput(value, blocks, meta, extra)
  if (structuredContent !== undefined)
    return blocks.length > 0 || isMore ? output(structuredContent) : structuredContent
  if (blocks.some(({ type }) => type !== 'text'))
    return isMore || !blocks.every(({ type }) => BLOCK_TYPES.has(type)) ? output(blocks) : blocks
  const [block, ...more] = blocks
  const isPlain = !block || (more.length === 0 && Object.keys(block).length === 2)
  return isPlain && !isMore ? textOf(blocks) : output(textOf(blocks))
}

function blocksOf(content: unknown): ContentBlock[] {
  if (!Array.isArray(content)) throw malformed(`'content' must be array, got ${kindOf(content)}`)
  content.forEach((block, at) => {
    if (!isRecord(block) || typeof block.type !== 'string')
      throw malformed(`content block ${at + 1} has no type`)
    if (block.type === 'text' && typeof block.text !== 'string')
      throw malformed(`content block ${at + 1} has no text`)
  })
  return content
}

function textOf(blocks: readonly ContentBlock[]): string {
  return blocks.map(block => block.text).join('\n')
}

function malformed(problem: string): RpcError {
  return new RpcError(`Malformed MCP result: ${problem}`)
}
