import type { Clients, Refusal } from '../clients.ts'
import { failure } from './answers.ts'

export interface GuardOptions {
  /** Host names the gateway answers to, in addition to loopback. */
  hosts?: readonly string[] | undefined
  /** Checks the token. */
  clients: Clients
}

/** Checks a request before anything else: returns the response that refuses it, or `undefined`. */
export type Guard = (request: Request, isOpen: boolean) => Refusal | Promise<Refusal>

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

/**
 * Refuses what a foreign web page can make a browser send. Checking Host keeps out pages whose domain was pointed at this
 * machine (DNS rebinding); requiring the exact Origin keeps out all others, including those on another port. The page
 * itself is open, since a browser cannot send a token with it, and so is the OAuth metadata; neither contains data.
 */
export function createGuard({ hosts = [], clients }: GuardOptions): Guard {
  const known = new Set([...LOOPBACK, ...hosts.map(host => hostnameOf(host) ?? host)])
  const accepted = new Set<string>()
  const isKnown = (host: string) => {
    if (accepted.has(host)) return true
    const isOurs = known.has(hostnameOf(host) ?? '')
    if (isOurs && accepted.size < 100) accepted.add(host)
    return isOurs
  }
  return (request, isOpen) => {
    const { headers } = request
    const host = hostOf(request)
    if (!isKnown(host)) return failure(403, 'Host not allowed')
    if (!isOwnOrigin(headers.get('origin'), host)) return failure(403, 'Origin not allowed')
    if (!isOwnSite(headers, isOpen)) return failure(403, 'Cross-site requests are not allowed')
    return isOpen ? undefined : clients.admit(request)
  }
}

/** The host a request was sent to, as the client names it. */
export function hostOf({ headers, url }: Request): string {
  return headers.get('host') ?? new URL(url).host
}

function hostnameOf(host: string): string | undefined {
  const address = host.includes(':') && !host.includes(']') && host.split(':').length > 2 ? `[${host}]` : host
  return URL.canParse(`http://${address}`) ? new URL(`http://${address}`).hostname : undefined
}

function isOwnOrigin(origin: string | null, host: string): boolean {
  return origin === null || origin === `http://${host}` || origin === `https://${host}`
}

/** For requests without an Origin, such as images. Any page may link to ours. */
function isOwnSite(headers: Headers, isOpen: boolean): boolean {
  const site = headers.get('sec-fetch-site')
  if (site === null || site === 'same-origin' || site === 'none') return true
  return isOpen && headers.get('sec-fetch-mode') === 'navigate'
}
