import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
} from '@modelcontextprotocol/server'
import type { ToolSuccess } from '../../call/tool-result.ts'
import { isRecord } from '../../runtime/guards.ts'
import { type BigResults, blocksOf, type KeptParts } from '../../tools/results/big-results.ts'
import { isText, whyMissing } from '../../tools/results/read-result.ts'
import { type KeptResult, onlyFor, type ResultOwner } from '../../tools/results/result-store.ts'
import { MAX_INLINE_BINARY, MAX_MCP_ANSWER } from '../limits.ts'
import { fits } from './answer-size.ts'
import { type ToolSource, toolAnswer } from './tool-answer.ts'

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
export async function longAnswer(
  result: ToolSuccess,
  { kept, source, hasLinks }: LongAnswerOptions,
): Promise<CallToolResult> {
  const links = hasLinks ? [...(kept.text ? [kept.text] : []), ...kept.binaries].map(linkTo(result)) : []
  const content = [
    ...(kept.text ? [textBlock(kept.text.summary)] : []),
    ...otherBlocks(result, kept),
    ...links,
  ]
  const answer = { content, ...(result.meta && { _meta: result.meta }) }
  if (!source.hasOutputSchema) return answer
  // Too large to send: without it, clients accept only an error.
  if (!(await fits(result.result))) return { ...answer, isError: true }
  const { structuredContent } = toolAnswer({ ...result, text: '', content: [] }, source)
  return structuredContent === undefined ? answer : { ...answer, structuredContent }
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

const NOT_FOUND = -32_002

/** `resources/read` of a kept result, for its owner. */
export async function readResource(
  uri: string,
  results: BigResults | undefined,
  owner: ResultOwner,
): Promise<ReadResourceResult> {
  const found = (await results?.store.read(uri, onlyFor(owner))) ?? 'unknown'
  if (typeof found === 'string')
    throw new ProtocolError(NOT_FOUND, whyMissing(uri, found, results?.minutes ?? 0), { uri })
  const { content, mimeType, bytes } = found
  if (bytes > MAX_MCP_ANSWER.maxChars / 2)
    throw new ProtocolError(
      ProtocolErrorCode.InternalError,
      `${uri} has ${bytes} bytes, which is too large for MCP; read parts of it with read_result`,
    )
  const part = isText(mimeType) ? { text: content.toString() } : { blob: content.toString('base64') }
  return { contents: [{ uri, mimeType, ...part }] }
}
