import type { CatalogServer } from './catalog.ts'
import type { CacheHint } from './connection.ts'
import { KEYS, type Offer, type OfferKind, type OfferList, timeOf } from './server-offers.ts'

/** An offer of a server, with its name in the catalog. */
export interface Placed extends Offer {
  server: CatalogServer
  as: string
}

interface Prefix {
  text: string
  server: CatalogServer
}

/**
 * All offers of one kind, under unique names. A unique name is kept; of several equal ones the first in the configuration
 * keeps it, and the others become `server__prompt` or `server+uri`. A prefix always refers to its server, whatever names
 * others choose.
 */
export class Names {
  readonly placed: Placed[] = []
  readonly #byName = new Map<string, Placed>()
  readonly #byServer = new Map<CatalogServer, Map<string, Placed>>()
  readonly #prefixes: readonly Prefix[]
  readonly #kind: OfferKind

  constructor(kind: OfferKind, servers: readonly CatalogServer[], lists: readonly OfferList[]) {
    this.#kind = kind
    this.#prefixes = prefixesOf(kind, servers)
    for (const [at, server] of servers.entries())
      for (const offer of lists[at]?.offers ?? []) this.#place(offer, server)
  }

  /** Finds an offer by its name here, or by its name with the server's prefix. */
  find(name: string): Placed | undefined {
    const found = this.#byName.get(name)
    if (found) return found
    for (const { server, key } of this.addressed(name)) {
      const own = this.#byServer.get(server)?.get(key)
      if (own) return own
    }
    return undefined
  }

  /** The servers whose prefix a name has, with the rest of the name; longest prefix first. */
  addressed(name: string): { server: CatalogServer; key: string }[] {
    return this.#prefixes
      .filter(({ text }) => name.startsWith(text))
      .map(({ server, text }) => ({ server, key: name.slice(text.length) }))
  }

  #place(offer: Offer, server: CatalogServer): void {
    const as = this.#nameOf(offer.key, server)
    const entry = as === offer.key ? offer.entry : { ...offer.entry, [KEYS[this.#kind]]: as }
    const placed = { ...offer, entry, server, as }
    this.placed.push(placed)
    this.#byName.set(as, placed)
    const own = this.#byServer.get(server) ?? new Map<string, Placed>()
    this.#byServer.set(server, own.set(offer.key, placed))
  }

  #nameOf(key: string, server: CatalogServer): string {
    const isFree = (name: string) => {
      const [owner] = this.addressed(name)
      return !this.#byName.has(name) && (!owner || owner.server === server)
    }
    if (isFree(key)) return key
    const prefix = this.#prefixes.find(each => each.server === server)?.text ?? ''
    const full = `${prefix}${key}`
    if (isFree(full)) return full
    let count = 2
    while (this.#byName.has(`${full}~${count}`)) count++
    return `${full}~${count}`
  }
}

/** Longest first. A URI scheme allows no underscores, hence the `+`, as in `git+ssh:`. */
function prefixesOf(kind: OfferKind, servers: readonly CatalogServer[]): Prefix[] {
  const taken = new Set<string>()
  const prefixes = servers.map(server => {
    const text = kind === 'prompts' ? `${server.name}__` : schemeOf(server.name, taken)
    taken.add(text)
    return { server, text }
  })
  return prefixes.sort((a, b) => b.text.length - a.text.length)
}

function schemeOf(server: string, taken: ReadonlySet<string>): string {
  const plain = server.toLowerCase().replace(/[^a-z0-9.-]/g, '-')
  const name = /^[a-z]/.test(plain) ? plain : `s${plain}`
  let text = `${name}+`
  for (let count = 2; taken.has(text); count++) text = `${name}-${count}+`
  return text
}

/** A combined list may be cached only as long as its shortest-lived part. */
export function hintOf(hints: readonly CacheHint[]): { ttlMs: number; cacheScope: 'public' | 'private' } {
  const times = hints.map(({ ttlMs }) => timeOf(ttlMs))
  const isPublic = hints.length > 0 && hints.every(({ cacheScope }) => cacheScope === 'public')
  return { ttlMs: times.length > 0 ? Math.min(...times) : 0, cacheScope: isPublic ? 'public' : 'private' }
}

/** A variable of a URI template, and the text that follows it. */
interface Part {
  /** Matches slashes too: `{+path}`, `{/path*}`, `{?query}` … */
  isWide: boolean
  after: string
}

/** A URI template as a matcher. Not a regular expression: templates come from servers, and some would take forever to match. */
export class TemplateMatch {
  readonly #before: string
  readonly #parts: readonly Part[]

  constructor(template: string) {
    const [before = '', ...rest] = template.split('{')
    this.#before = before
    this.#parts = rest.map(each => {
      const end = each.indexOf('}')
      return { isWide: !/^\w/.test(each), after: each.slice(end + 1) }
    })
  }

  fits(uri: string): boolean {
    if (!uri.startsWith(this.#before)) return false
    let at = this.#before.length
    for (const [index, { isWide, after }] of this.#parts.entries()) {
      const isLast = index === this.#parts.length - 1
      const end = isLast ? endOf(uri, after) : uri.indexOf(after, at)
      if (end < at || (!isWide && (end === at || uri.slice(at, end).includes('/')))) return false
      at = end + after.length
    }
    return at === uri.length
  }
}

function endOf(uri: string, after: string): number {
  return uri.endsWith(after) ? uri.length - after.length : -1
}
