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

function onHashChange(listener: () => void): () => void {
  addEventListener('hashchange', listener)
  return () => removeEventListener('hashchange', listener)
}

/** The path and the query behind the `#`. */
function useAddress(): [path: string, query: string] {
  const hash = useSyncExternalStore(onHashChange, () => location.hash)
  const [path = '', ...query] = hash.replace(/^#?\/?/, '').split('?')
  return [path, query.join('?')]
}

/** The decoded parts of the path: `['tools', 'echo']`. */
export function useParts(): string[] {
  return useAddress()[0].split('/').map(decoded)
}

export function useQueryParams(): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(useAddress()[1]))
}

/** Decodes a part of the address; returns it unchanged if it is malformed. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
