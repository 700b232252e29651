import { AsyncLocalStorage } from 'node:async_hooks'
import { STATUS_CODES } from 'node:http'
import type { FetchLike } from '@modelcontextprotocol/client'
import { bodyChunks } from '../runtime/body-chunks.ts'
import { asData, eventStream, tooLong } from './event-stream.ts'
import type { HttpMessages, SentRequest } from './http-messages.ts'
import { HTTP_ERROR_CHARACTERS, MAX_RETRY_AFTER_MS } from './limits.ts'
import type { Requester } from './server-link.ts'

/** Streamable HTTP, or the HTTP+SSE transport before it. */
export type HttpKind = 'streamable' | 'sse'

/** Sends a request, as `fetch` does. */
export type Send = (url: string, init: RequestInit) => Promise<Response>

/** The SDK request a fetch belongs to, including a later fetch that resumes its broken stream. */
export const currentRequest = new AsyncLocalStorage<SentRequest | undefined>()

/** Owns everything sent within it, and everything the server asks on the same stream. */
export interface CurrentCall {
  from?: Requester | undefined
  onSent?: ((request: SentRequest) => void) | undefined
}

export const currentCall = new AsyncLocalStorage<CurrentCall>()

/** A request that the server refused with an HTTP status. */
export class HttpStatusError extends Error {
  override name = 'HttpStatusError'
  readonly status: number

  constructor(status: number, statusText: string, text: string) {
    super(httpWords(status, statusText, text))
    this.status = status
  }
}

/** `HTTP 429 Too Many Requests: slow down`. */
export function httpWords(status: number, statusText = '', text = ''): string {
  const reason = statusText || STATUS_CODES[status] || ''
  const body = text.trim().slice(0, HTTP_ERROR_CHARACTERS)
  return `HTTP ${status} ${reason}`.trim() + (body === '' ? '' : `: ${body}`)
}

/**
 * The `fetch` of a connection: no response exceeds the limit (after decompression), failures are reported as the response
 * to their request, and no call is ever sent twice.
 */
export function boundedFetch(messages: HttpMessages, kind: HttpKind, send: Send = fetch): FetchLike {
  /** Where the server redirected the handshake: calls go there directly. */
  let moved: { from: string; to: string } | undefined
  return async (url, init) => {
    const request = currentRequest.getStore()
    const target = moved?.from === String(url) ? moved.to : String(url)
    const response = await send(target, { ...init, redirect: 'manual' })
    const location = redirectOf(response, target)
    if (!location) return boundedResponse(response, { messages, request, init, kind })
    if (init?.method !== 'POST') return response
    const staysThere = location.origin === new URL(target).origin
    if (request?.method === 'tools/call') {
      await response.body?.cancel()
      const place = staysThere ? location.pathname : `${location.origin}${location.pathname}`
      const text = `the server redirects to ${place}; calls are never sent twice`
      throw new HttpStatusError(response.status, '', text)
    }
    const keepsMethod = response.status === 307 || response.status === 308
    if (keepsMethod && staysThere)
      moved = { from: moved?.to === target ? moved.from : target, to: location.href }
    return response
  }
}

function redirectOf({ status, headers }: Response, from: string): URL | undefined {
  const location = headers.get('location')
  if (status < 300 || status > 399 || location === null || !URL.canParse(location, from)) return undefined
  return new URL(location, from)
}

interface Exchange {
  messages: HttpMessages
  request: SentRequest | undefined
  init: RequestInit | undefined
  kind: HttpKind
}

async function boundedResponse(response: Response, exchange: Exchange): Promise<Response> {
  const { messages, request, init, kind } = exchange
  const { status, headers } = response
  const type = headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (!response.ok) return refused(response, exchange)
  // Drops the status, so that the SDK reads the body.
  if (type === 'text/event-stream' && response.body)
    return new Response(eventStream(response.body, { messages, request, signal: init?.signal }), { headers })
  if (request && type === 'application/json')
    return asJson(await jsonMessages(response, messages, request), headers)
  const text = await beginningOf(response)
  // In the older protocol the response comes on another stream.
  if (request && kind === 'streamable' && (request.method === 'tools/call' || !type))
    return asJson(messages.refuse(withoutResult(status, type), request), headers)
  // A 204 may not have a body, not even an empty one.
  return new Response(text, { status: status === 204 ? 202 : status, headers })
}

function asJson(messages: object[], given: Headers): Response {
  const headers = new Headers(given)
  headers.set('content-type', 'application/json')
  return new Response(JSON.stringify(messages.length === 1 ? messages[0] : messages), { headers })
}

function withoutResult(status: number, type?: string): string {
  return `The server answered ${status} without a result${type ? ` (${type})` : ''}`
}

async function refused(response: Response, exchange: Exchange): Promise<Response> {
  const { messages, request, init, kind } = exchange
  const { status, headers } = response
  const text = await beginningOf(response)
  // The stream of a response cannot be resumed.
  if (request && init?.method === 'GET' && messages.isPending(request)) return lost(messages, request)
  const after = headers.get('retry-after')
  const reason = response.statusText || STATUS_CODES[status] || ''
  const full = after === null ? reason : `${reason} (retry after ${secondsUntil(after)} s)`
  const statusText = full.replace(/[^\x20-\x7e]/g, '?')
  // The SDK's older transport would lose what the server said.
  if (kind === 'sse' && init?.method === 'POST') throw new HttpStatusError(status, statusText, text)
  return new Response(text, { status, statusText, headers })
}

function lost(messages: HttpMessages, request: SentRequest): Response {
  const events = messages.lose(request).map(asData)
  return new Response(events.join(''), { headers: { 'content-type': 'text/event-stream' } })
}

/** `after` is given in seconds or as a date. */
function secondsUntil(after: string): number {
  if (/^\d{1,9}$/.test(after)) return Number(after)
  const date = Date.parse(after)
  return Number.isNaN(date) ? 0 : Math.max(0, Math.ceil((date - Date.now()) / 1_000))
}

const RETRY_AFTER = /\(retry after (\d+) s\)/

/** The Retry-After in an error, if any. The SDK's errors keep only the status text, so `refused` puts it there. */
export function retryAfterMs(error: unknown): number | undefined {
  const { statusText = '', message = '' } = (error ?? {}) as { statusText?: string; message?: string }
  const [, seconds] = RETRY_AFTER.exec(`${statusText} ${message}`) ?? []
  return seconds === undefined ? undefined : Math.min(Number(seconds) * 1_000, MAX_RETRY_AFTER_MS)
}

async function jsonMessages(
  response: Response,
  messages: HttpMessages,
  request: SentRequest,
): Promise<object[]> {
  const read = await readBody(response, messages, request).catch(() => messages.lose(request))
  if (messages.isPending(request))
    read.push(...messages.refuse('Malformed MCP result: it is for another request', request))
  return read
}

async function readBody(response: Response, messages: HttpMessages, request: SentRequest): Promise<object[]> {
  const { maxBytes } = messages
  const text = await textUpTo(response, maxBytes)
  if (text?.trim() === '') return messages.refuse(withoutResult(response.status), request)
  if (text !== undefined) return messages.read(text, request)
  return messages.refuse(tooLong(maxBytes), request)
}

/** The beginning of a body that is not needed in full. */
async function beginningOf(response: Response): Promise<string> {
  const text = await textUpTo(response, HTTP_ERROR_CHARACTERS * 10, true).catch(() => '')
  return text ?? ''
}

/** The whole body, or `undefined` if it is longer; with `cut`, its beginning. */
async function textUpTo({ body }: Response, maxBytes: number, cut = false): Promise<string | undefined> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  const reader = body?.getReader()
  for await (const chunk of reader ? bodyChunks(reader) : []) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes <= maxBytes) continue
    await reader?.cancel().catch(() => {})
    return cut ? Buffer.concat(chunks).toString('utf8', 0, maxBytes) : undefined
  }
  return new TextDecoder().decode(Buffer.concat(chunks))
}
