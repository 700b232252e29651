import { isObjectLike } from '../runtime/guards.ts'

/**
 * The text of what an MCP tool, ours or an adapter's, answers: content blocks, `[content, artifacts]`, or an
 * object around them. `undefined` if the value is none of these.
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
