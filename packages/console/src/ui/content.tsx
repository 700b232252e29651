import { useState } from 'react'
import type { ToolSuccess } from 'toolpost/gateway'
import { keptResult } from '../api/gateway.ts'
import { isRecord } from '../api/http.ts'
import { oneLine } from '../text/visible-text.ts'
import { saveAs } from './code.tsx'
import { Button, Section } from './controls.tsx'
import { attempt } from './toast.tsx'
import { ValueView } from './value-view.tsx'
import { WebLink } from './web-link.tsx'

/* MCP content blocks: text, images and sound as such, links as links, everything else as JSON. */

type Block = { type: string } & Record<string, unknown>

const IMAGE_TYPE = /^image\/(?:png|jpeg|gif|webp|avif|bmp|svg\+xml)$/
const AUDIO_TYPE = /^audio\/[\w.+-]{1,40}$/
const BASE64 = /^[A-Za-z0-9+/=\s]+$/
const TYPES = ['text', 'image', 'audio', 'resource', 'resource_link']

/** The content blocks of a result, if it consists of any. */
export function blocksOf({ result, content }: Pick<ToolSuccess, 'result' | 'content'>): Block[] | undefined {
  for (const value of [content, result, isRecord(result) ? result.content : undefined])
    if (isBlocks(value)) return value
  return undefined
}

function isBlocks(value: unknown): value is Block[] {
  if (!Array.isArray(value) || value.length === 0) return false
  return value.every(block => isRecord(block) && TYPES.includes(block.type as string))
}

export function Blocks({ blocks }: { blocks: readonly Block[] }) {
  return (
    <div className="flex flex-col gap-3">
      {blocks.map((block, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: blocks keep their order
        <BlockView key={at} block={block} label={blocks.length > 1 ? `Part ${at + 1}` : 'Result'} />
      ))}
    </div>
  )
}

function BlockView({ block, label }: { block: Block; label: string }) {
  const { type, text, uri } = block
  if (type === 'text' && typeof text === 'string') return <ValueView value={text} label={label} />
  if (type === 'resource_link' && typeof uri === 'string')
    return (
      <p>
        <WebLink address={uri}>{oneLine(String(block.title ?? block.name ?? uri), 200)}</WebLink>{' '}
        <code className="text-muted">{oneLine(uri, 300)}</code>
      </p>
    )
  if (type === 'resource' && isRecord(block.resource)) {
    const { resource } = block
    if (typeof resource.text === 'string')
      return (
        <Section title={oneLine(String(resource.uri ?? label), 200)}>
          <ValueView value={resource.text} label={label} />
        </Section>
      )
    return <Media data={resource.blob} mimeType={resource.mimeType} block={block} label={label} />
  }
  return <Media data={block.data} mimeType={block.mimeType} block={block} label={label} />
}

interface MediaProps {
  data: unknown
  mimeType: unknown
  block: Block
  label: string
}

/** Only valid base64 of an image or audio type is shown or played. */
function Media({ data, mimeType, block, label }: MediaProps) {
  const isData = typeof data === 'string' && typeof mimeType === 'string' && BASE64.test(data)
  if (!isData || !(IMAGE_TYPE.test(mimeType) || AUDIO_TYPE.test(mimeType)))
    return <ValueView value={block} label={label} />
  const address = `data:${mimeType};base64,${data.replace(/\s/g, '')}`
  return <Shown address={address} mimeType={mimeType} />
}

function Shown({ address, mimeType }: { address: string; mimeType: string }) {
  const label = `Tool result (${mimeType})`
  if (IMAGE_TYPE.test(mimeType))
    return (
      <img className="card max-h-[32rem] max-w-full self-start object-contain" src={address} alt={label} />
    )
  // biome-ignore lint/a11y/useMediaCaption: sound from a tool has no captions
  return <audio controls preload="metadata" src={address} aria-label={label} />
}

/** The full version of a result that was too long for the model, while the gateway keeps it. */
export function KeptResult({ handle }: { handle: string }) {
  const [shown, setShown] = useState<{ text: string } | { address: string; mimeType: string }>()
  const load = (use: (blob: Blob) => unknown) => void attempt(async () => use(await keptResult(handle)))
  const show = async (blob: Blob) => {
    const isMedia = IMAGE_TYPE.test(blob.type) || AUDIO_TYPE.test(blob.type)
    setShown(
      isMedia ? { address: URL.createObjectURL(blob), mimeType: blob.type } : { text: await blob.text() },
    )
  }
  const save = (blob: Blob) => {
    const ending = blob.type.includes('json') ? 'json' : blob.type.startsWith('text/') ? 'txt' : 'bin'
    saveAs(blob, `${handle.replace('result://', 'result-')}.${ending}`)
  }
  return (
    <div className="flex flex-col gap-2">
      <div className="row flex-wrap">
        <span className="text-muted">The full result is kept for a while.</span>
        <Button onClick={() => load(show)}>Show full result</Button>
        <Button onClick={() => load(save)}>Save</Button>
      </div>
      {shown &&
        ('text' in shown ? <ValueView value={shown.text} label="Full result" /> : <Shown {...shown} />)}
    </div>
  )
}
