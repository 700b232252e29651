import { useEffect } from 'react'
import { useWaiting } from '../state/decisions.ts'
import { gateway } from '../state/gateway.ts'
import { useStore } from '../state/store.ts'

/** What the icon of a background tab signals. */
type Trouble = 'none' | 'waiting' | 'broken'

const MARKS: Record<Trouble, string> = {
  none: '',
  waiting: '<circle cx="25" cy="7" r="7" fill="#f0a020" stroke="#fff" stroke-width="2"/>',
  broken: '<circle cx="25" cy="7" r="7" fill="#d6362c" stroke="#fff" stroke-width="2"/>',
}

/** Keeps the tab icon up to date: red if the gateway or a server is down, amber if something is waiting for a person. */
export function Favicon(): null {
  const trouble = useTrouble()
  useEffect(() => {
    const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]')
    if (link) link.href = trouble === 'none' ? './icon.svg' : addressOf(trouble)
  }, [trouble])
  return null
}

function useTrouble(): Trouble {
  const isGone = useStore(gateway, ({ connection }) => connection.state === 'gone')
  const isDown = useStore(gateway, ({ servers = [] }) =>
    servers.some(({ state }) => state === 'lost' || state === 'failed'),
  )
  const waiting = useWaiting()?.length ?? 0
  if (isGone || isDown) return 'broken'
  return waiting > 0 ? 'waiting' : 'none'
}

function addressOf(trouble: Trouble): string {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#3650c8"/><path d="M8 10h16M16 10v13" stroke="#fff" stroke-width="3.4" stroke-linecap="round"/><circle cx="16" cy="23" r="3.2" fill="#fff"/>${MARKS[trouble]}</svg>`
  return `data:image/svg+xml,${encodeURIComponent(svg)}`
}
