import { type KeyboardEvent, type MouseEvent, useEffect, useMemo, useRef, useState } from 'react'
import { favourites } from '../../state/favourites.ts'
import { gateway } from '../../state/gateway.ts'
import { palette } from '../../state/palette.ts'
import { useStore } from '../../state/store.ts'
import { useFoundTools } from '../../views/tools/use-found-tools.ts'
import { Icon } from '../icon.tsx'
import { fits, fixedItems, type PaletteItem, serverItem, toolItem } from './palette-items.ts'

const SHOWN_TOOLS = 8
const SHOWN_SERVERS = 4

/** Ctrl-K: everything on the page, by name. */
export function CommandPalette() {
  const isOpen = useStore(palette, state => state.isOpen)
  useEffect(() => {
    const onKey = (event: globalThis.KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey) return
      event.preventDefault()
      palette.open()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
  return isOpen ? <OpenPalette /> : null
}

function OpenPalette() {
  const dialog = useRef<HTMLDialogElement>(null)
  const [query, setQuery] = useState('')
  const [chosen, setChosen] = useState(0)
  const items = useItems(query)
  const at = Math.min(chosen, items.length - 1)
  useEffect(() => dialog.current?.showModal(), [])
  const run = (item: PaletteItem | undefined) => {
    if (item === undefined) return
    palette.close()
    item.run()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step === undefined && event.key !== 'Enter') return
    event.preventDefault()
    if (step === undefined) run(items[at])
    else setChosen((at + step + items.length) % Math.max(1, items.length))
  }
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes it as well
    <dialog
      ref={dialog}
      className="palette"
      aria-label="Search or jump to"
      onClose={() => palette.close()}
      onClick={event => event.target === dialog.current && palette.close()}
    >
      <div className="palette-field">
        <Icon name="search" />
        <input
          type="text"
          role="combobox"
          aria-label="Search or jump to"
          aria-expanded="true"
          aria-controls="palette-items"
          aria-activedescendant={items[at] && `palette-${at}`}
          autoComplete="off"
          spellCheck={false}
          placeholder="Search tools, servers, views …"
          value={query}
          onChange={event => {
            setQuery(event.target.value)
            setChosen(0)
          }}
          onKeyDown={onKeyDown}
        />
        <span aria-hidden="true">
          <kbd>Esc</kbd>
        </span>
      </div>
      <Items items={items} at={at} onRun={run} onPoint={setChosen} />
    </dialog>
  )
}

interface ItemsProps {
  items: PaletteItem[]
  at: number
  onRun: (item: PaletteItem) => void
  onPoint: (at: number) => void
}

function Items({ items, at, onRun, onPoint }: ItemsProps) {
  return (
    <div id="palette-items" className="palette-items" role="listbox" aria-label="Results">
      {items.length === 0 && <p className="palette-none muted">Nothing found.</p>}
      {items.map((item, place) => (
        <Item
          key={item.key}
          item={item}
          place={place}
          isChosen={place === at}
          isFirst={items[place - 1]?.group !== item.group}
          onRun={() => onRun(item)}
          onPoint={() => onPoint(place)}
        />
      ))}
    </div>
  )
}

interface ItemProps {
  item: PaletteItem
  place: number
  isChosen: boolean
  /** The first of its group. */
  isFirst: boolean
  onRun: () => void
  onPoint: () => void
}

function Item({ item, place, isChosen, isFirst, onRun, onPoint }: ItemProps) {
  const element = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (isChosen) element.current?.scrollIntoView({ block: 'nearest' })
  }, [isChosen])
  return (
    <>
      {isFirst && (
        <p className="palette-group" aria-hidden="true">
          {item.group}
        </p>
      )}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the field handles the keys */}
      <div
        ref={element}
        id={`palette-${place}`}
        role="option"
        tabIndex={-1}
        className="palette-item"
        aria-selected={isChosen}
        onClick={onRun}
        onMouseMove={event => !isChosen && hasMoved(event) && onPoint()}
      >
        <Icon name={item.icon} />
        <span className={item.group === 'Tools' ? 'mono' : undefined}>{item.title}</span>
        {item.text && <span className="palette-text">{item.text}</span>}
        {isChosen && <Icon name="enter" />}
      </div>
    </>
  )
}

/** A list that changes under a resting pointer makes events too; only a person moves it. */
function hasMoved({ movementX, movementY }: MouseEvent): boolean {
  return movementX !== 0 || movementY !== 0
}

/** Without a query: the views and the favourites. */
function useItems(query: string): PaletteItem[] {
  const tools = useStore(gateway, state => state.tools)
  const servers = useStore(gateway, state => state.servers)
  const names = useStore(favourites, value => value)
  const all = useMemo(() => tools ?? [], [tools])
  const found = useFoundTools(all, query)
  const words = query.trim()
  return useMemo(() => {
    const fixed = fixedItems()
    if (words === '') {
      const marked = all.filter(({ name }) => names.includes(name)).slice(0, SHOWN_TOOLS)
      return [
        ...fixed.filter(({ group }) => group === 'Go to'),
        ...marked.map(toolItem),
        ...fixed.filter(({ group }) => group !== 'Go to'),
      ]
    }
    const fitting = fixed.filter(item => fits(item, words))
    const ofServers = (servers ?? []).map(serverItem).filter(item => fits(item, words))
    return [
      ...fitting.filter(({ group }) => group === 'Go to'),
      ...found.slice(0, SHOWN_TOOLS).map(toolItem),
      ...ofServers.slice(0, SHOWN_SERVERS),
      ...fitting.filter(({ group }) => group !== 'Go to'),
    ]
  }, [all, servers, names, found, words])
}
