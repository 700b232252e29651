import { oneLine } from '../../text/visible-text.ts'
import { Icon } from '../icon.tsx'
import { WebLink, webAddress } from '../web-link.tsx'
import type { ContentPart } from './content-blocks.ts'
import { DownloadLink } from './download.tsx'

export function MediaPart({ kind, address, mimeType }: Extract<ContentPart, { kind: 'image' | 'audio' }>) {
  const label = `Tool result (${mimeType})`
  return (
    <figure className="media">
      {kind === 'image' ? (
        <img className="result-image" src={address} alt={label} />
      ) : (
        // biome-ignore lint/a11y/useMediaCaption: audio from a tool has no captions
        <audio controls preload="metadata" src={address} aria-label={label} />
      )}
      <figcaption className="toolbar">
        <span className="muted">{mimeType}</span>
        <DownloadLink address={address} name={fileName(kind, mimeType)} />
      </figcaption>
    </figure>
  )
}

/** A linked resource: a link if it is on the web, otherwise an address to copy. */
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
