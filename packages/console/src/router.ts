import { useSyncExternalStore } from 'react'

/* The address is `#/view/part?query`; parts and query are percent-encoded, so that any tool name fits. */

/** The link to a view: `hrefTo(['tools', name])`. Empty query values are left out. */
export function hrefTo(parts: readonly string[], query: Record<string, string | undefined> = {}): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]))
  const search = new URLSearchParams(given).toString()
  const path = parts.map(part => encodeURIComponent(part.toWellFormed())).join('/')
  return `#/${path}${search && `?${search}`}`
}

/** Goes to an address made by `hrefTo`. */
export function go(href: string, { replace = false } = {}): void {
  if (replace) location.replace(href)
  else location.assign(href)
}

function currentPath(): string {
  return location.hash.replace(/^#?\/?/, '/').split('?')[0] ?? '/'
}

function currentSearch(): string {
  return location.hash.split('?').slice(1).join('?')
}

function onHashChange(listener: () => void): () => void {
  addEventListener('hashchange', listener)
  return () => removeEventListener('hashchange', listener)
}

/** For wouter: the path behind the `#`. */
export function useHashPath(): [string, (to: string) => void] {
  return [useSyncExternalStore(onHashChange, currentPath), to => go(`#${to.replace(/^#/, '')}`)]
}

/** For wouter: the query behind the path. */
export function useHashSearch(): string {
  return useSyncExternalStore(onHashChange, currentSearch)
}

/** The decoded parts of the path: `['tools', 'echo']`. */
export function useParts(): string[] {
  const [path] = useHashPath()
  return path.split('/').slice(1).map(decoded)
}

export function useQueryParams(): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(useHashSearch()))
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
