import { useMemo, useState } from 'react'
import { IconButton } from '../button.tsx'
import { CopyButton } from '../copy-button.tsx'
import { Markdown } from '../markdown/markdown.tsx'
import { Segmented } from '../segmented.tsx'
import { DownloadButton } from './download.tsx'
import { JsonTreeView } from './json-tree-view.tsx'
import { TableView } from './table-view.tsx'
import { isSentence, TextView } from './text-view.tsx'
import { type ViewKind, type Views, viewsOf } from './views-of.ts'

const KINDS = {
  markdown: { label: 'Rendered', icon: 'document' },
  table: { label: 'Table', icon: 'table' },
  json: { label: 'JSON', icon: 'json' },
  text: { label: 'Text', icon: 'text' },
} as const

interface Props {
  value: unknown
  /** For screen readers, and for the file name. */
  label: string
}

/** One value as a document, a table, JSON or text, whichever it supports. */
export function ValueView({ value, label }: Props) {
  const views = useMemo(() => viewsOf(value), [value])
  const [chosen, setChosen] = useState<ViewKind>()
  const [isWrapped, setWrapped] = useState(true)
  const kind = chosen && views.kinds.includes(chosen) ? chosen : (views.kinds[0] ?? 'text')
  if (value === '') return <p className="muted">The tool returned an empty string.</p>
  if (value === undefined || value === null) return <p className="muted">The tool returned nothing.</p>
  return (
    <div className={`viewer ${isSentence(value) && views.kinds.length === 1 ? 'viewer-sentence' : ''}`}>
      <div className="toolbar viewer-bar">
        {views.kinds.length > 1 && (
          <Segmented
            label="Show as"
            options={views.kinds.map(one => ({ value: one, ...KINDS[one] }))}
            value={kind}
            onChange={setChosen}
          />
        )}
        <span className="viewer-actions">
          {kind === 'text' && !isSentence(value) && (
            <IconButton
              icon="wrap"
              label="Wrap lines"
              isPressed={isWrapped}
              onClick={() => setWrapped(!isWrapped)}
            />
          )}
          <CopyButton label="Copy" text={() => wholeText(value)} />
          <DownloadButton {...fileOf(value, views, label)} make={() => wholeText(value)} />
        </span>
      </div>
      <View kind={kind} value={value} views={views} label={label} isWrapped={isWrapped} />
    </div>
  )
}

interface ViewProps extends Props {
  kind: ViewKind
  views: Views
  isWrapped: boolean
}

function View({ kind, value, views, label, isWrapped }: ViewProps) {
  if (kind === 'markdown') return <Markdown text={String(value)} />
  if (kind === 'table' && views.table) return <TableView table={views.table} label={label} />
  if (kind === 'json') return <JsonTreeView value={views.data} label={label} />
  return <TextView value={value} label={label} isWrapped={isWrapped} />
}

function wholeText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? 'null')
}

function fileOf(value: unknown, { kinds, data }: Views, label: string): { name: string; type: string } {
  const name = label.toLowerCase().replace(/[^a-z0-9]+/g, '-')
  if (data !== undefined || typeof value !== 'string')
    return { name: `${name}.json`, type: 'application/json' }
  return kinds.includes('markdown')
    ? { name: `${name}.md`, type: 'text/markdown' }
    : { name: `${name}.txt`, type: 'text/plain' }
}
