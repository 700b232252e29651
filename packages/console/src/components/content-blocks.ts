import { isRecord } from '../api/guards.ts'
import { oneLine } from '../text/visible-text.ts'

/* MCP content in a result: which parts are images, which are text, which can only be named. */

export type ContentPart =
  | { kind: 'text'; text: string }
  | { kind: 'image'; address: string; mimeType: string }
  | { kind: 'other'; description: string; value: unknown }

export interface Content {
  parts: ContentPart[]
  /** What came beside the blocks. */
  structured: unknown
}

const IMAGE_TYPE = /^image\/(?:png|jpeg|gif|webp|avif|bmp|svg\+xml)$/
const BASE64 = /^[A-Za-z0-9+/=\s]+$/

/** The content blocks that a result consists of; `undefined` if it is a plain value. */
export function contentOf(result: unknown): Content | undefined {
  if (isBlocks(result)) return { parts: result.map(partOf), structured: undefined }
  if (isRecord(result) && isBlocks(result.content) && 'structuredContent' in result)
    return { parts: result.content.map(partOf), structured: result.structuredContent }
  return undefined
}

interface Block extends Record<string, unknown> {
  type: string
}

function isBlocks(value: unknown): value is Block[] {
  const types = ['text', 'image', 'audio', 'resource', 'resource_link']
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every(block => isRecord(block) && types.includes(block.type as string))
  )
}

function partOf(block: Block): ContentPart {
  const { type, text, data, mimeType } = block
  if (type === 'text' && typeof text === 'string') return { kind: 'text', text }
  const address = type === 'image' ? imageAddress(data, mimeType) : undefined
  if (address !== undefined) return { kind: 'image', address, mimeType: String(mimeType) }
  if (type === 'resource' && isRecord(block.resource) && typeof block.resource.text === 'string')
    return { kind: 'text', text: block.resource.text }
  return { kind: 'other', description: descriptionOf(block), value: block }
}

/** Only what is an image by its type and base64 by its form becomes an address of the page. */
function imageAddress(data: unknown, mimeType: unknown): string | undefined {
  if (typeof data !== 'string' || typeof mimeType !== 'string') return undefined
  if (!IMAGE_TYPE.test(mimeType) || !BASE64.test(data)) return undefined
  return `data:${mimeType};base64,${data.replace(/\s/g, '')}`
}

function descriptionOf({ type, mimeType, uri, name }: Block): string {
  const words = {
    audio: 'Audio',
    image: 'Image that cannot be shown',
    resource: 'Resource',
    resource_link: 'Link',
  }
  const details = [name, mimeType, uri].filter(one => typeof one === 'string')
  return oneLine([words[type as keyof typeof words] ?? type, ...details].join(' · '))
}
