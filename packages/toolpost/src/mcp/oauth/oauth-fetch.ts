import type { FetchLike } from '@modelcontextprotocol/client'
import { removeFromLogs } from '../../logging/safe-value.ts'
import { isRecord } from '../../runtime/guards.ts'
import { describeError } from '../server-failure.ts'
import { MAX_OAUTH_BYTES, OAUTH_TIMEOUT_MS } from './limits.ts'

/** An authorization server, or a server's word about it, that is not to be trusted. Nothing more is sent. */
export class OAuthRefusal extends Error {
  override name = 'OAuthRefusal'
}

/** What an authorization server said instead of giving a token or registering a client. */
export class OAuthDenial extends Error {
  override name = 'OAuthDenial'
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

export interface OAuthFetch {
  fetch: FetchLike
  /** Throws what stood in the way, if something did: the SDK goes on looking where it should stop. */
  check(): void
}

/**
 * The `fetch` of everything that concerns a login: https only (plain http within this machine, if the MCP server is on
 * it too), no redirect to another host, no long bodies, no waiting. A POST that fails is a denial.
 */
export function oauthFetch(serverUrl: string): OAuthFetch {
  let refusal: OAuthRefusal | undefined
  const refuse = (problem: string): never => {
    refusal ??= new OAuthRefusal(problem)
    throw refusal
  }
  return {
    check() {
      if (refusal) throw refusal
    },
    async fetch(given, init) {
      const url = new URL(String(given))
      const problem = insecure(url, serverUrl)
      if (problem) refuse(problem)
      const { response, text } = await exchange(url, init)
      const location = response.headers.get('location')
      if (response.status >= 300 && response.status < 400 && location !== null) {
        const to = URL.canParse(location, url.href) ? new URL(location, url) : undefined
        const mayFollow = to?.origin === url.origin && init?.method !== 'POST'
        if (!mayFollow) refuse(`${shown(url)} redirects to ${to ? shown(to) : 'nowhere'}`)
        return response
      }
      if (text === undefined) return refuse(`${shown(url)} answered with more than ${MAX_OAUTH_BYTES} bytes`)
      if (init?.method === 'POST' && !response.ok) throw denial(response.status, text, url)
      const { status, headers } = response
      return new Response(status === 204 || status === 304 ? null : text, { status, headers })
    },
  }
}

async function exchange(url: URL, init?: RequestInit): Promise<{ response: Response; text?: string }> {
  try {
    const signal = AbortSignal.timeout(OAUTH_TIMEOUT_MS)
    const response = await fetch(url, { ...init, redirect: 'manual', signal })
    const text = await limitedText(response)
    if (text === undefined) return { response }
    removeFromLogs(secretsIn(asRecord(text)))
    return { response, text }
  } catch (error) {
    throw new Error(`${shown(url)} cannot be reached: ${describeError(error)}`, { cause: error })
  }
}

/** Why nothing of a login may go to this address. */
export function insecure(url: URL, serverUrl: string): string | undefined {
  if (isLoopback(url)) {
    if (isLoopback(new URL(serverUrl))) return undefined
    return `${shown(url)} is on this machine, and the server that names it is not`
  }
  return url.protocol === 'https:' ? undefined : `${shown(url)} is not https`
}

function isLoopback({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname)
}

/** As far as it may be shown: not what is asked for, which can be secret. */
function shown({ origin, pathname }: URL): string {
  return `${origin}${pathname}`
}

async function limitedText({ body }: Response): Promise<string | undefined> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    bytes += chunk.length
    // Leaving the loop ends the stream.
    if (bytes > MAX_OAUTH_BYTES) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

const SECRETS = /token|secret|assertion|^code$/

/** Known as such before anybody can say them. */
function secretsIn(answer: Record<string, unknown>): string[] {
  const told = Object.entries(answer).filter(([name]) => SECRETS.test(name))
  return told.flatMap(([, value]) => (typeof value === 'string' && !URL.canParse(value) ? [value] : []))
}

function denial(status: number, text: string, url: URL): Error {
  const { error, error_description: description } = asRecord(text)
  // A server in trouble has not denied anything.
  if (typeof error !== 'string' || status >= 500 || status === 429)
    return new Error(`${shown(url)} answered ${status}`)
  const words = typeof description === 'string' ? `${error} (${description})` : error
  return new OAuthDenial(error, describeError(words))
}

function asRecord(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : {}
  } catch {
    return {}
  }
}
