import { Command } from 'cmdk'
import { useEffect, useMemo, useState } from 'react'
import { useServers, useTools } from './api/queries.ts'
import { usePlaces } from './app.tsx'
import { go, hrefTo } from './router.ts'
import { oneLine } from './text/visible-text.ts'
import { THEMES, useTheme } from './theme.ts'
import { Dialog } from './ui/dialog.tsx'
import { openPalette, usePalette } from './ui/palette-state.ts'
import { openConversation } from './views/chat/chat-store.ts'

interface Item {
  group: string
  label: string
  hint?: string
  run: () => void
}

const MAX_SHOWN = 60

/** Ctrl-K, Cmd-K, or `/` outside of a field. */
export function usePaletteKeys(): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const isK = event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey)
      if (!isK && (event.key !== '/' || isTyping(event))) return
      event.preventDefault()
      openPalette()
    }
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  }, [])
}

/** Whether a key belongs to a field, a menu or a dialog. */
export function isTyping({ target }: Event): boolean {
  if (!(target instanceof Element)) return false
  return target.closest('input, textarea, select, [contenteditable], [role=dialog], [role=listbox]') !== null
}

export function Palette() {
  const { isOpen } = usePalette()
  const close = () => usePalette.setState({ isOpen: false })
  return (
    <Dialog title="Search or jump to" open={isOpen} onClose={close} bare>
      <Search onClose={close} />
    </Dialog>
  )
}

function Search({ onClose }: { onClose: () => void }) {
  const [words, setWords] = useState('')
  const items = useItems()
  const found = useMemo(() => matching(items, words), [items, words])
  const groups = [...new Set(found.map(({ group }) => group))]
  return (
    <Command label="Search or jump to" shouldFilter={false} loop>
      <Command.Input
        value={words}
        onValueChange={setWords}
        placeholder="Search tools, servers and views"
        className="h-11 w-full border-b border-line bg-transparent px-4 text-base outline-none"
        autoFocus
      />
      <Command.List className="max-h-[60vh] overflow-y-auto p-2" tabIndex={-1}>
        <Command.Empty className="p-6 text-center text-muted">Nothing found.</Command.Empty>
        {groups.map(group => (
          <Command.Group
            key={group}
            heading={group}
            className="[&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:py-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-muted"
          >
            {found
              .filter(item => item.group === group)
              .map(item => (
                <Command.Item
                  key={item.label}
                  value={`${group} ${item.label}`}
                  onSelect={() => {
                    onClose()
                    item.run()
                  }}
                  className="flex items-center justify-between gap-4 rounded px-2 py-1.5 aria-selected:bg-raised"
                >
                  <span className="shrink-0 truncate">{item.label}</span>
                  <span className="truncate text-xs text-muted">{item.hint}</span>
                </Command.Item>
              ))}
          </Command.Group>
        ))}
      </Command.List>
    </Command>
  )
}

function useItems(): Item[] {
  const places = usePlaces()
  const { data: tools = [] } = useTools()
  const { data: servers = [] } = useServers()
  return useMemo(
    () => [
      ...places.map(({ path, label }) => ({ group: 'Views', label, run: () => go(`#/${path}`) })),
      ...tools.map(tool => ({
        group: 'Tools',
        label: oneLine(tool.name, 80),
        hint: oneLine(tool.description, 100),
        run: () => go(hrefTo(['tools', tool.name])),
      })),
      ...servers.map(({ name, state }) => ({
        group: 'Servers',
        label: oneLine(name, 80),
        hint: state,
        run: () => go(hrefTo(['servers', name])),
      })),
      {
        group: 'Actions',
        label: 'New conversation',
        run: () => {
          void openConversation(undefined)
          go('#/chat')
        },
      },
      { group: 'Actions', label: 'Add a server', run: () => go('#/servers?add=1') },
      { group: 'Actions', label: 'Failed calls', run: () => go('#/calls?outcome=failed') },
      ...THEMES.map(theme => ({
        group: 'Actions',
        label: `Theme: ${theme}`,
        run: () => useTheme.setState({ theme }),
      })),
    ],
    [places, tools, servers],
  )
}

/** Items with all the words; those whose label begins with the first word come first. */
function matching(items: readonly Item[], words: string): Item[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean)
  const found = items.filter(({ label, hint = '', group }) => {
    const text = `${label} ${hint} ${group}`.toLowerCase().replaceAll('_', ' ')
    return wanted.every(word => text.includes(word) || label.toLowerCase().includes(word))
  })
  const [first = ''] = wanted
  const rank = ({ label }: Item) => {
    const at = label.toLowerCase().indexOf(first)
    return at === 0 ? 0 : at > 0 ? 1 : 2
  }
  return found.sort((a, b) => rank(a) - rank(b)).slice(0, MAX_SHOWN)
}
