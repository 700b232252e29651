import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react'
import type { ToolInfo } from 'toolpost/gateway'
import { EmptyState } from '../../components/empty-state.tsx'
import { Icon } from '../../components/icon.tsx'
import { useShowMore } from '../../components/show-more.tsx'
import { hrefOf } from '../../routing/route.ts'
import { go } from '../../routing/use-route.ts'
import { counted } from '../../text/figures.ts'
import { oneLine } from '../../text/visible-text.ts'
import { groupBySource, searchTools } from './search-tools.ts'

/** Thousands of tools are searched, not scrolled. */
const SHOWN_TOOLS = 200

export function ToolList({ tools, selected }: { tools: ToolInfo[]; selected: string | undefined }) {
  const [query, setQuery] = useState('')
  const found = useMemo(() => searchTools(tools, query), [tools, query])
  const [limit, more] = useShowMore(found.length, SHOWN_TOOLS)
  const list = useRef<HTMLDivElement>(null)
  const openFirst = () => found[0] && go({ view: 'tools', tool: found[0].name })
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the arrow keys only move between links that Tab reaches too
    <div className="split-list" ref={list} onKeyDown={event => walk(event, list.current)}>
      <h1 className="visually-hidden">Tools</h1>
      <Search query={query} onChange={setQuery} onEnter={openFirst} />
      <p className="list-count muted" role="status">
        {query ? `${found.length} of ${counted(tools.length, 'tool')}` : counted(tools.length, 'tool')}
      </p>
      {groupBySource(found.slice(0, limit)).map(group => (
        <section key={group.source} aria-label={`Tools of ${group.source}`}>
          <h2 className="list-group">{group.source === 'local' ? 'Local' : oneLine(group.source, 60)}</h2>
          <ul className="plain-list">
            {group.tools.map(tool => (
              <Item key={tool.name} tool={tool} current={tool.name === selected} />
            ))}
          </ul>
        </section>
      ))}
      {more}
      {found.length === 0 && <NothingFound any={tools.length > 0} />}
    </div>
  )
}

interface SearchProps {
  query: string
  onChange: (query: string) => void
  onEnter: () => void
}

function Search({ query, onChange, onEnter }: SearchProps) {
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    const focus = (event: globalThis.KeyboardEvent) => {
      if (event.key !== '/' || isTyping(event.target)) return
      event.preventDefault()
      input.current?.focus()
    }
    addEventListener('keydown', focus)
    return () => removeEventListener('keydown', focus)
  }, [])
  return (
    <div className="search">
      <Icon name="search" />
      <input
        ref={input}
        type="search"
        placeholder="Search tools"
        aria-label="Search tools"
        aria-keyshortcuts="/"
        value={query}
        onChange={event => onChange(event.target.value)}
        onKeyDown={event => event.key === 'Enter' && onEnter()}
      />
      <span className="search-key" aria-hidden="true">
        /
      </span>
    </div>
  )
}

function Item({ tool, current }: { tool: ToolInfo; current: boolean }) {
  return (
    <li>
      <a
        className="list-item"
        href={hrefOf({ view: 'tools', tool: tool.name })}
        aria-current={current ? 'true' : undefined}
      >
        <span className="list-item-name">{oneLine(tool.name, 80)}</span>
        <span className="list-item-text">{oneLine(tool.description, 120)}</span>
      </a>
    </li>
  )
}

function NothingFound({ any }: { any: boolean }) {
  if (any) return <EmptyState title="No matching tools">Try another word, or part of one.</EmptyState>
  return (
    <EmptyState title="No tools yet">
      Servers may still be starting: see <a href={hrefOf({ view: 'servers' })}>Servers</a>.
    </EmptyState>
  )
}

function walk(event: KeyboardEvent, list: HTMLElement | null): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  if (step === undefined || list === null) return
  const stops = [...list.querySelectorAll<HTMLElement>('input, a')]
  const next = stops[stops.indexOf(document.activeElement as HTMLElement) + step]
  if (next === undefined) return
  event.preventDefault()
  next.focus()
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(input|textarea|select)$/i.test(target.tagName))
  )
}
