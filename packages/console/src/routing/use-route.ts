import { useMemo, useSyncExternalStore } from 'react'
import { hrefOf, parseRoute, type Route } from './route.ts'

export function useRoute(): Route {
  const hash = useSyncExternalStore(watchAddress, () => location.hash)
  return useMemo(() => parseRoute(hash), [hash])
}

export function go(route: Route): void {
  location.hash = hrefOf(route)
}

/** Without a new history entry, for filters. */
export function goInPlace(route: Route): void {
  history.replaceState(history.state, '', hrefOf(route))
  // The browser reports a new hash in a later task; a click in between must see the new route.
  dispatchEvent(new HashChangeEvent('hashchange'))
}

function watchAddress(listener: () => void): () => void {
  addEventListener('hashchange', listener)
  return () => removeEventListener('hashchange', listener)
}
