import type { CatalogServer } from './catalog.ts'
import type { CacheHint } from './sdk-client.ts'
import type { Offer, OfferKind } from './server-offers.ts'

/** What a server offers, and what it is known by among all. */
export interface Placed extends Offer {
  server: CatalogServer
  /** What it is known by here. */
  as: string
}

export const KEYS = { resources: 'uri', templates: 'uriTemplate', prompts: 'name' } as const

/** By the name it has here, or by the one that says which server it is of. */
export function known(placed: readonly Placed[], kind: OfferKind, key: string): Placed | undefined {
  return (
    placed.find(({ as }) => as === key) ??
    placed.find(({ server, key: own }) => prefixed(kind, server.name, own) === key)
  )
}

/** A URI's scheme has no underscores; `git+ssh:` shows how it is done. */
export function prefixed(kind: OfferKind, server: string, key: string): string {
  return kind === 'prompts'
    ? `${server}__${key}`
    : `${server.toLowerCase().replace(/[^a-z0-9.-]/g, '-')}+${key}`
}

/** Together they may be kept as long as the one that may be kept least. */
export function hintOf(hints: readonly CacheHint[]): CacheHint {
  const times = hints.map(({ ttlMs }) => (typeof ttlMs === 'number' && ttlMs > 0 ? ttlMs : 0))
  const isPublic = hints.length > 0 && hints.every(({ cacheScope }) => cacheScope === 'public')
  return { ttlMs: times.length > 0 ? Math.min(...times) : 0, cacheScope: isPublic ? 'public' : 'private' }
}
