import type { ToolSuccess } from '../../call/tool-result.ts'
import { isRecord } from '../../runtime/guards.ts'

/** Binary content of a result: an image, audio, the blob of a resource. */
export interface BinaryBlock {
  /** Index of the content block. */
  block: number
  kind: string
  /** base64 */
  data: string
  mimeType: string
}

const MAX_BLOCKS = 1_000
const MIME_TYPE = /^[\w.+-]{1,64}\/[\w.+-]{1,64}$/

/** The MCP content blocks of a result. */
export function blocksOf({ content, result }: ToolSuccess): readonly unknown[] {
  return content ?? (Array.isArray(result) ? result : [])
}

export function* binariesOf(result: ToolSuccess): Generator<BinaryBlock> {
  for (const [block, value] of blocksOf(result).slice(0, MAX_BLOCKS).entries()) {
    if (!isRecord(value)) continue
    const { type, data, mimeType, resource } = value
    if ((type === 'image' || type === 'audio') && typeof data === 'string')
      yield { block, kind: type, data, mimeType: typeOf(mimeType) }
    else if (type === 'resource' && isRecord(resource) && typeof resource.blob === 'string')
      yield { block, kind: 'file', data: resource.blob, mimeType: typeOf(resource.mimeType) }
  }
}

/** Checked because it is foreign and becomes a header. */
function typeOf(mimeType: unknown): string {
  return typeof mimeType === 'string' && MIME_TYPE.test(mimeType)
    ? mimeType.toLowerCase()
    : 'application/octet-stream'
}
