import { setTimeout as pause } from 'node:timers/promises'
import type { Transport } from '@modelcontextprotocol/client'
import { basicCredentials } from '../runtime/uri-decoded.ts'
import {
  boundedFetch,
  currentCall,
  currentRequest,
  type HttpKind,
  HttpStatusError,
  httpWords,
} from './http-fetch.ts'
import type { HttpMessages } from './http-messages.ts'
import { GOODBYE_MS, MIN_RESUME_DELAY_MS, RECONNECT_MAX_DELAY_MS } from './limits.ts'
import { authorizedFetch } from './oauth/authorized-fetch.ts'
import type { ServerLogin } from './oauth/server-login.ts'
import { loadSdk } from './sdk-client.ts'
import type { HttpServerEntry } from './server-entry.ts'
import { describeError } from './server-failure.ts'

/** An SDK transport for an HTTP server, with all messages passing through `messages`. */
export async function createHttpTransport(
  entry: HttpServerEntry,
  kind: HttpKind,
  { messages, login }: { messages: HttpMessages; login: ServerLogin | undefined },
): Promise<Transport> {
  const { SSEClientTransport, StreamableHTTPClientTransport } = await loadSdk()
  const { url, headers } = splitCredentials(entry)
  const fetch = boundedFetch(messages, kind, login && authorizedFetch(login))
  const options = { requestInit: { headers }, fetch }
  const transport: Transport =
    kind === 'sse'
      ? new SSEClientTransport(url, options)
      : new StreamableHTTPClientTransport(url, { ...options, reconnectionScheduler })
  const start = transport.start.bind(transport)
  const send = transport.send.bind(transport)
  transport.start = () => currentRequest.run(undefined, start)
  transport.send = (message, sendOptions) => {
    const request = messages.sent(message)
    if (request) currentCall.getStore()?.onSent?.(request)
    return currentRequest.run(request, () => send(message, sendOptions))
  }
  return transport
}

/** A server may say how soon a broken stream is resumed, but not "immediately, forever". */
function reconnectionScheduler(reconnect: () => void, delayMs: number): () => void {
  const boundedMs = Math.min(Math.max(delayMs, MIN_RESUME_DELAY_MS), RECONNECT_MAX_DELAY_MS)
  const timer = setTimeout(reconnect, boundedMs)
  return () => clearTimeout(timer)
}

/** Moves user and password, which fetch rejects in a URL, into a header, unless one is configured. */
function splitCredentials({ url, headers }: HttpServerEntry): { url: URL; headers: Record<string, string> } {
  const bare = new URL(url)
  const { username, password } = bare
  const all = new Headers(headers)
  if ((username || password) && !all.has('authorization'))
    all.set('authorization', `Basic ${basicCredentials(username, password)}`)
  bare.username = ''
  bare.password = ''
  return { url: bare, headers: Object.fromEntries(all) }
}

/** Whether the server rejected the POST itself, as one without Streamable HTTP would: the older SSE is worth a try. */
export function wantsSse(error: unknown): boolean {
  const status = httpStatusOf(error)
  return status === 400 || status === 404 || status === 405
}

/** The HTTP status in an error of the SDK, if any. */
function httpStatusOf(error: unknown): number | undefined {
  const { status, code } = (error ?? {}) as { status?: unknown; code?: unknown }
  if (typeof status === 'number') return status
  return typeof code === 'number' && code >= 100 && code < 600 ? code : undefined
}

/** Whether the session expired on the server: 404, or 410 if there is a session. */
export function isExpiredSession(error: unknown, { sessionId }: Transport): boolean {
  const status = httpStatusOf(error)
  return status === 404 || (status === 410 && sessionId !== undefined)
}

/** Whether an error means that the server is unreachable, not that it refused. */
export function isGone(error: unknown): boolean {
  const status = httpStatusOf(error)
  if (status !== undefined) return status >= 502 && status <= 504
  const { code, name } = error as { code?: unknown; name?: unknown }
  return (
    code === 'CONNECTION_CLOSED' ||
    code === 'NOT_CONNECTED' ||
    name === 'AbortError' ||
    error instanceof TypeError
  )
}

/** Whether no connection was established, so that the call cannot have reached the server. */
export function isRefusedConnection(error: unknown): boolean {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'ECONNREFUSED' || code === 'ENOTFOUND' || code === 'EAI_AGAIN') return true
  }
  return false
}

/** Describes a failed request: for an HTTP status with its reason and the beginning of the body. */
export function describeHttpError(error: unknown): string {
  const status = httpStatusOf(error)
  const isRedirect = status !== undefined && status < 400
  if (status === undefined || isRedirect || error instanceof HttpStatusError) return describeError(error)
  const { statusText, data } = error as { statusText?: string; data?: { text?: unknown } }
  return describeError(httpWords(status, statusText, typeof data?.text === 'string' ? data.text : ''))
}

/**
 * Delays each response by a microtask. The SDK dispatches notifications a little later than responses, and would lose a
 * progress notification that arrives together with its response.
 */
export function answerAfterNotifications(transport: Transport): void {
  const { onmessage } = transport
  transport.onmessage = (message, extra) => {
    if ('method' in message) onmessage?.(message, extra)
    else queueMicrotask(() => onmessage?.(message, extra))
  }
}

/** Ends the session, if there is one. Best effort: it must not hold anything up. */
export async function sayGoodbye(transport: Transport): Promise<void> {
  const { terminateSession } = transport as { terminateSession?: () => Promise<void> }
  const goodbye = terminateSession?.call(transport).catch(() => {})
  if (goodbye) await Promise.race([goodbye, pause(GOODBYE_MS, undefined, { ref: false })])
}
