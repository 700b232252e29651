import { type KeyboardEvent, useMemo, useRef, useState } from 'react'
import type { ToolInfo } from 'toolpost/gateway'
import { EmptyState } from '../../components/empty-state.tsx'
import { useShowMore } from '../../components/show-more.tsx'
import { hrefOf } from '../../routing/route.ts'
import { go } from '../../routing/use-route.ts'
import { gateway } from '../../state/gateway.ts'
import { useStore } from '../../state/store.ts'
import { counted } from '../../text/figures.ts'
import { groupTools } from './search-tools.ts'
import { ToolGroupView } from './tool-group.tsx'
import { ToolItem } from './tool-item.tsx'
import { ToolSearch } from './tool-search.tsx'
import { useFoundTools } from './use-found-tools.ts'

/** Thousands of tools are searched, not scrolled. */
const SHOWN_TOOLS = 200

export function ToolList({ tools, selected }: { tools: ToolInfo[]; selected: string | undefined }) {
  const [query, setQuery] = useState('')
  const found = useFoundTools(tools, query)
  const list = useRef<HTMLDivElement>(null)
  const openFirst = () => found[0] && go({ view: 'tools', tool: found[0].name })
  const isSearch = query.trim() !== ''
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the arrow keys only move between links that Tab reaches too
    <div className="split-list" ref={list} onKeyDown={event => walk(event, list.current)}>
      <h1 className="visually-hidden">Tools</h1>
      <ToolSearch query={query} onChange={setQuery} onEnter={openFirst} />
      <p className="list-count muted" role="status">
        {isSearch ? `${found.length} of ${counted(tools.length, 'tool')}` : counted(tools.length, 'tool')}
      </p>
      {isSearch ? <Found tools={found} selected={selected} /> : <Groups tools={tools} selected={selected} />}
      {found.length === 0 && <NothingFound any={tools.length > 0} />}
    </div>
  )
}

/** Ranked, and therefore not grouped. */
function Found({ tools, selected }: { tools: ToolInfo[]; selected: string | undefined }) {
  const [limit, more] = useShowMore(tools.length, SHOWN_TOOLS)
  return (
    <>
      <ul className="plain-list" aria-label="Matching tools">
        {tools.slice(0, limit).map(tool => (
          <ToolItem key={tool.name} tool={tool} isCurrent={tool.name === selected} withSource />
        ))}
      </ul>
      {more}
    </>
  )
}

function Groups({ tools, selected }: { tools: ToolInfo[]; selected: string | undefined }) {
  const servers = useStore(gateway, state => state.servers)
  const groups = useMemo(() => groupTools(tools, servers ?? []), [tools, servers])
  return groups.map(group => (
    <ToolGroupView key={group.source} group={group} selected={selected} shown={SHOWN_TOOLS} />
  ))
}

function NothingFound({ any }: { any: boolean }) {
  if (any) return <EmptyState title="No matching tools">Try another word, or part of one.</EmptyState>
  return (
    <EmptyState title="No tools yet" icon="tools">
      Servers may still be starting: see <a href={hrefOf({ view: 'servers' })}>Servers</a>.
    </EmptyState>
  )
}

function walk(event: KeyboardEvent, list: HTMLElement | null): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  if (step === undefined || list === null) return
  const all = [...list.querySelectorAll<HTMLElement>('input, summary, a')]
  const stops = all.filter(stop => stop.checkVisibility())
  const next = stops[stops.indexOf(document.activeElement as HTMLElement) + step]
  if (next === undefined) return
  event.preventDefault()
  next.focus()
}
