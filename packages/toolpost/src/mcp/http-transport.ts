import type { Transport } from '@modelcontextprotocol/client'
import { basicCredentials } from '../logging/config-secrets.ts'
import { loadSdk } from './sdk-client.ts'
import type { HttpServerEntry } from './server-entry.ts'

/** Streamable HTTP, or what servers spoke before there was that. */
export type HttpKind = 'streamable' | 'sse'

/** A transport of the SDK for a server at an address. */
export async function createHttpTransport(
  { url, headers }: HttpServerEntry,
  kind: HttpKind,
): Promise<Transport> {
  const { SSEClientTransport, StreamableHTTPClientTransport } = await loadSdk()
  const address = new URL(url)
  const options = { requestInit: { headers: withCredentials(address, headers) } }
  return kind === 'sse'
    ? new SSEClientTransport(address, options)
    : new StreamableHTTPClientTransport(address, options)
}

/** Moves user and password, which fetch refuses in an address, into a header; one that is configured stays. */
function withCredentials(url: URL, headers: HttpServerEntry['headers']): Record<string, string> {
  const { username, password } = url
  const all = new Headers(headers)
  if ((username || password) && !all.has('authorization'))
    all.set('authorization', `Basic ${basicCredentials(username, password)}`)
  url.username = ''
  url.password = ''
  return Object.fromEntries(all)
}

/** Whether the server knows no Streamable HTTP, so that the older SSE is worth a try: it refused the POST as such. */
export function wantsSse(error: unknown): boolean {
  const status = httpStatusOf(error)
  return status === 400 || status === 404 || status === 405
}

/** The HTTP status that an error of the SDK carries, if it does. */
export function httpStatusOf(error: unknown): number | undefined {
  const { status, code } = (error ?? {}) as { status?: unknown; code?: unknown }
  if (typeof status === 'number') return status
  return typeof code === 'number' && code >= 100 && code < 600 ? code : undefined
}

/**
 * Lets a moment pass before each answer. The SDK hands notifications on a little later than answers, and so
 * would lose a progress notice that arrives together with its answer.
 */
export function answerAfterNotifications(transport: Transport): void {
  const { onmessage } = transport
  transport.onmessage = (message, extra) => {
    if ('method' in message) onmessage?.(message, extra)
    else queueMicrotask(() => onmessage?.(message, extra))
  }
}
