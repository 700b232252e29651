import { textOf } from '../../api/checked.ts'
import { isRecord } from '../../api/guards.ts'
import { oneLine } from '../../text/visible-text.ts'

/* MCP content in a result: parts that can be shown, played, linked or saved, and the rest. */

export type ContentPart =
  | { kind: 'text'; text: string; title?: string | undefined }
  | { kind: 'image' | 'audio'; address: string; mimeType: string }
  | { kind: 'link'; uri: string; name: string; description: string }
  | { kind: 'file'; address: string; name: string; mimeType: string }
  | { kind: 'other'; description: string; value: unknown }

export interface Content {
  parts: ContentPart[]
  /** The structured content that came with the blocks. */
  structured: unknown
}

const IMAGE_TYPE = /^image\/(?:png|jpeg|gif|webp|avif|bmp|svg\+xml)$/
const AUDIO_TYPE = /^audio\/[\w.+-]{1,40}$/
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

export function isBlocks(value: unknown): value is Block[] {
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
  if (type === 'image' || type === 'audio') return mediaOf(data, mimeType) ?? other(block)
  if (type === 'resource_link' && typeof block.uri === 'string')
    return {
      kind: 'link',
      uri: block.uri,
      name: textOf(block.title) || textOf(block.name),
      description: textOf(block.description),
    }
  if (type === 'resource' && isRecord(block.resource)) return resourceOf(block.resource) ?? other(block)
  return other(block)
}

/** An embedded resource becomes text, an image or audio, else a file. */
function resourceOf({ uri, text, blob, mimeType }: Record<string, unknown>): ContentPart | undefined {
  const title = textOf(uri) ? oneLine(textOf(uri), 200) : undefined
  if (typeof text === 'string') return { kind: 'text', text, title }
  const address = dataAddress(blob, 'application/octet-stream')
  if (address === undefined) return undefined
  const name = textOf(uri).split(/[/?#]/).filter(Boolean).at(-1) ?? 'resource'
  return (
    mediaOf(blob, mimeType) ?? { kind: 'file', address, name: oneLine(name, 80), mimeType: textOf(mimeType) }
  )
}

/** Only valid base64 of an image or audio type becomes a `data:` URL. */
function mediaOf(data: unknown, mimeType: unknown): ContentPart | undefined {
  if (typeof mimeType !== 'string') return undefined
  const kind = mediaKind(mimeType)
  const address = dataAddress(data, mimeType)
  return kind === undefined || address === undefined ? undefined : { kind, address, mimeType }
}

/** Whether this type can be shown or played in the page. */
export function mediaKind(mimeType: string): 'image' | 'audio' | undefined {
  if (IMAGE_TYPE.test(mimeType)) return 'image'
  return AUDIO_TYPE.test(mimeType) ? 'audio' : undefined
}

function dataAddress(data: unknown, mimeType: string): string | undefined {
  if (typeof data !== 'string' || !BASE64.test(data)) return undefined
  return `data:${mimeType};base64,${data.replace(/\s/g, '')}`
}

function other(block: Block): ContentPart {
  return { kind: 'other', description: descriptionOf(block), value: block }
}

function descriptionOf({ type, mimeType, uri, name }: Block): string {
  const words = {
    audio: 'Audio that cannot be played',
    image: 'Image that cannot be shown',
    resource: 'Resource',
    resource_link: 'Link',
  }
  const details = [name, mimeType, uri].filter(one => typeof one === 'string')
  return oneLine([words[type as keyof typeof words] ?? type, ...details].join(' · '))
}
