import { oneLine } from '../../text/visible-text.ts'
import { Icon } from '../icon.tsx'
import { WebLink, webAddress } from '../web-link.tsx'
import type { ContentPart } from './content-blocks.ts'
import { DownloadLink } from './download.tsx'

export function ImagePart({ part }: { part: Extract<ContentPart, { kind: 'image' }> }) {
  return (
    <figure className="media">
      <img className="result-image" src={part.address} alt={`Result of the tool (${part.mimeType})`} />
      <figcaption className="toolbar">
        <span className="muted">{part.mimeType}</span>
        <DownloadLink address={part.address} name={fileName('image', part.mimeType)} />
      </figcaption>
    </figure>
  )
}

export function AudioPart({ part }: { part: Extract<ContentPart, { kind: 'audio' }> }) {
  return (
    <figure className="media">
      {/* biome-ignore lint/a11y/useMediaCaption: what a tool says has no captions */}
      <audio
        controls
        preload="metadata"
        src={part.address}
        aria-label={`Result of the tool (${part.mimeType})`}
      />
      <figcaption className="toolbar">
        <span className="muted">{part.mimeType}</span>
        <DownloadLink address={part.address} name={fileName('audio', part.mimeType)} />
      </figcaption>
    </figure>
  )
}

/** A resource that is only named: to the web it is a link, elsewhere an address to be copied. */
export function LinkPart({ part }: { part: Extract<ContentPart, { kind: 'link' }> }) {
  const isWeb = webAddress(part.uri) !== undefined
  return (
    <p className="media-link">
      <Icon name={isWeb ? 'outside' : 'resource'} />
      <span>
        <WebLink address={part.uri}>{oneLine(part.name || part.uri, 200)}</WebLink>
        {part.description && <span className="muted"> {oneLine(part.description, 300)}</span>}
        <code className="media-uri">{oneLine(part.uri, 300)}</code>
      </span>
    </p>
  )
}

function fileName(name: string, mimeType: string): string {
  return `${name}.${(mimeType.split('/')[1] ?? 'bin').replace(/[^a-z0-9][\s\S]*$/, '')}`
}
