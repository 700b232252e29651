import { oneLine, visibleText } from '../../text/visible-text.ts'
import { JsonBlock } from '../code-block.tsx'
import { ErrorBoundary } from '../error-boundary.tsx'
import { type ContentPart, contentOf } from './content-blocks.ts'
import { DownloadLink } from './download.tsx'
import { LinkPart, MediaPart } from './media-part.tsx'
import { ValueView } from './value-view.tsx'

interface Props {
  value: unknown
  label?: string
}

/** Whatever a tool returned: its content blocks in order, next to any structured content, or one value. */
export function Viewer({ value, label = 'Result' }: Props) {
  return (
    <ErrorBoundary fallback={<JsonBlock value={value} label={label} />}>
      <Content value={value} label={label} />
    </ErrorBoundary>
  )
}

function Content({ value, label }: Required<Props>) {
  const content = contentOf(value)
  if (content === undefined) return <ValueView value={value} label={label} />
  const { parts, structured } = content
  const shown = structured === undefined ? parts : parts.filter(part => !repeats(part, structured))
  return (
    <div className={`content-parts ${structured !== undefined && shown.length > 0 ? 'content-beside' : ''}`}>
      {shown.length > 0 && (
        <div className="content-parts">
          {shown.map((part, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: parts of a result keep their order
            <Part key={at} part={part} label={shown.length > 1 ? `${label} ${at + 1}` : label} />
          ))}
        </div>
      )}
      {structured !== undefined && (
        <section className="content-structured" aria-label="Structured content">
          {shown.length > 0 && <h3>Structured content</h3>}
          <ValueView value={structured} label={shown.length > 0 ? `${label} as data` : label} />
        </section>
      )}
    </div>
  )
}

/** Servers repeat structured content as text, for clients that only read text: once is enough. */
function repeats(part: ContentPart, structured: unknown): boolean {
  if (part.kind !== 'text' || !/^\s*[[{]/.test(part.text) || part.text.length > 200_000) return false
  try {
    return JSON.stringify(JSON.parse(part.text)) === JSON.stringify(structured)
  } catch {
    return false
  }
}

function Part({ part, label }: { part: ContentPart; label: string }) {
  switch (part.kind) {
    case 'text':
      return (
        <div className="content-part">
          {part.title && <h3>{part.title}</h3>}
          <ValueView value={part.text} label={label} />
        </div>
      )
    case 'image':
    case 'audio':
      return <MediaPart {...part} />
    case 'link':
      return <LinkPart part={part} />
    case 'file':
      return (
        <p className="media-link">
          {oneLine(part.name, 80)} <span className="muted">{oneLine(part.mimeType, 60)}</span>
          <DownloadLink address={part.address} name={part.name} />
        </p>
      )
    case 'other':
      return (
        <details>
          <summary>{visibleText(part.description)}</summary>
          <JsonBlock value={part.value} label={part.description} />
        </details>
      )
  }
}
