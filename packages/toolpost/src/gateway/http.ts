import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Context, Hono, MiddlewareHandler, Next } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { textOf } from '../executor/model-text.ts'
import type { RunOptions } from '../executor/options.ts'
import { isRecord } from '../runtime/guards.ts'
import { traceContext } from '../telemetry/trace-context.ts'
import type { Client } from './clients.ts'
import { MAX_AUDIO_BYTES, MAX_BODY_BYTES, MAX_JSON_VALUES, MAX_STREAMS } from './limits.ts'

/** What the gateway's middleware knows about a request. */
export interface GatewayEnv {
  Variables: { client: Client }
  /** Node's request and response, if it came over a real connection. */
  Bindings: { incoming?: IncomingMessage; outgoing?: ServerResponse }
}

export type App = Hono<GatewayEnv>
export type RequestContext = Context<GatewayEnv>

/** A header, as Node has parsed it already: making a `Headers` object costs as much as a small call. Names in lower case. */
export function headerOf(c: RequestContext, name: string): string | undefined {
  const { incoming } = c.env ?? {}
  return incoming ? (incoming.headers[name] as string | undefined) : c.req.header(name)
}

/** The headers of every response that is not a page. Not Hono's `secureHeaders`, which costs a sixth of a call. */
const API_HEADERS = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
} as const

/** For streams: nothing between here and the client may buffer them. */
export const EVENT_STREAM_HEADERS = {
  ...API_HEADERS,
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
} as const

export function json(value: unknown, status = 200, headers?: Record<string, string>): Response {
  return new Response(jsonText(value), {
    status,
    headers: headers ? { ...API_HEADERS, ...headers } : API_HEADERS,
  })
}

/** Any value as JSON: a program's own tool may return cycles or big integers. */
export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null'
  } catch {
    return textOf(value)
  }
}

/** An error of the API itself, in one sentence. */
export function failure(status: number, error: string, headers?: Record<string, string>): Response {
  return json({ error }, status, headers)
}

export const NO_TOKEN = 'The token is missing or wrong: send it as Authorization: Bearer <token>'

/** Asks the client to retry soon. */
export function busy(error: string): Response {
  return failure(503, error, { 'retry-after': '5', connection: 'close' })
}

export function shuttingDown(): Response {
  return busy('Toolpost is shutting down')
}

/** A tool's content, unchanged. Nothing in it may run, whatever type it claims to be. */
export function bytes(content: Buffer, headers: Record<string, string>): Response {
  const safe = { 'content-security-policy': "default-src 'none'; sandbox" }
  return new Response(content as Uint8Array<ArrayBuffer>, {
    headers: { ...API_HEADERS, ...safe, ...headers },
  })
}

export function plainText(text: string): Response {
  const headers = { ...API_HEADERS, 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }
  return new Response(text, { headers })
}

/** Streams texts at the client's pace. Rejects if the first one fails. */
export async function textStream(
  texts: AsyncGenerator<string, void>,
  headers: Record<string, string>,
): Promise<Response> {
  const encoder = new TextEncoder()
  let piece = await texts.next()
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (piece.done) return controller.close()
        controller.enqueue(encoder.encode(piece.value))
        piece = await texts.next()
        if (piece.done) controller.close()
      },
      cancel: () => void texts.return(),
    },
    { highWaterMark: 0 },
  )
  return new Response(stream, { headers: { ...API_HEADERS, ...headers } })
}

/** One server-sent event. The data is JSON, so it has no line break that could start another event. */
export function eventText(event: string, data: unknown, id?: string): string {
  const idLine = id === undefined ? '' : `id: ${id}\n`
  return `${idLine}event: ${event}\ndata: ${jsonText(data)}\n\n`
}

/** Counts the open streams of all kinds. */
export class Streams {
  #open = 0

  get areFull(): boolean {
    return this.#open >= MAX_STREAMS
  }

  /** Counts one more, until the returned function is called. */
  add(): () => void {
    let isOpen = true
    this.#open++
    return () => {
      if (isOpen) this.#open--
      isOpen = false
    }
  }
}

/** Refuses bodies over the limit. Only one without a declared length has to be counted while it is read. */
export const limitBody: MiddlewareHandler<GatewayEnv> = async (c, next) => {
  const { method, path } = c.req
  if (method === 'GET' || method === 'HEAD') return next()
  const isAudio = path === '/api/transcriptions'
  const length = headerOf(c, 'content-length')
  if (length === undefined) return countBody(c, next, isAudio ? limitAudio : limitJson)
  const maxBytes = isAudio ? MAX_AUDIO_BYTES : MAX_BODY_BYTES
  return Number(length) > maxBytes ? tooLarge(maxBytes) : next()
}

const limitJson = bodyLimit({ maxSize: MAX_BODY_BYTES, onError: () => tooLarge(MAX_BODY_BYTES) })
const limitAudio = bodyLimit({ maxSize: MAX_AUDIO_BYTES, onError: () => tooLarge(MAX_AUDIO_BYTES) })

async function countBody(
  c: RequestContext,
  next: Next,
  limit: MiddlewareHandler,
): Promise<Response | undefined> {
  let isRead = false
  const proceed = () => {
    isRead = true
    return next()
  }
  try {
    return (await limit(c, proceed)) || undefined
  } catch (error) {
    if (isRead) throw error
    return failure(400, 'The body ended early')
  }
}

function tooLarge(maxBytes: number): Response {
  // The rest of the body is not read, so the connection cannot be reused.
  return failure(413, `The body is larger than ${maxBytes} bytes`, { connection: 'close' })
}

/** The JSON of a request body, `undefined` if it is empty; or the response to an unacceptable body. */
export async function readJson(
  c: RequestContext,
  notJson = (problem: string) => failure(400, problem),
): Promise<{ value: unknown } | Response> {
  let text: string
  try {
    text = await c.req.text()
  } catch {
    return failure(400, 'The body ended early')
  }
  if (text.length > MAX_JSON_VALUES && hasTooManyValues(text))
    return failure(413, 'The body has too many values')
  if (text.trim() === '') return { value: undefined }
  try {
    return { value: JSON.parse(text) }
  } catch (error) {
    return notJson(`The body is not JSON: ${(error as Error).message}`)
  }
}

/** The body as an object; an empty one if it is anything else. */
export async function readRecord(c: RequestContext): Promise<Record<string, unknown> | Response> {
  const body = await readJson(c)
  if (body instanceof Response) return body
  return isRecord(body.value) ? body.value : {}
}

const [QUOTE, COMMA, LIST, BACKSLASH, RECORD] = [0x22, 0x2c, 0x5b, 0x5c, 0x7b]

/** `JSON.parse` cannot be interrupted, and takes seconds for 10 MB of `{},`. Counting takes 40 ms. */
function hasTooManyValues(text: string): boolean {
  let values = 0
  let isString = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) isString = !isString
    else if (isString && code === BACKSLASH) at++
    else if (!isString && (code === COMMA || code === LIST || code === RECORD) && ++values > MAX_JSON_VALUES)
      return true
  }
  return false
}

const NONE: ReadonlyMap<string, string> = new Map()

/** The preferences of a request (RFC 7240): `respond-async, wait=10`. Names in lower case. */
export function preferencesOf(c: RequestContext): ReadonlyMap<string, string> {
  const given = headerOf(c, 'prefer')
  if (given === undefined) return NONE
  return new Map(
    given.split(',').map(each => {
      const [preference = ''] = each.split(';')
      const [name = '', value = ''] = preference.split('=')
      return [name.trim().toLowerCase(), value.trim().replaceAll('"', '')]
    }),
  )
}

/** The `meta` for the calls of a request: the trace named in its headers. */
export function metaOf(header: (name: string) => string | null | undefined): RunOptions['meta'] {
  return traceContext(key => header(key) ?? null) as RunOptions['meta']
}

/** Why a signal aborted if nobody cancelled anything: the caller went away, or the gateway stops. */
export class Disconnected extends Error {
  override name = 'Disconnected'

  constructor(message = 'The caller disconnected') {
    super(message)
  }
}

const connections = new WeakMap<Socket, AbortController>()

/**
 * A controller that aborts when the caller goes away. On a real connection that is when it closes, so its requests share
 * one: reading `request.signal` would cost as much as a small call.
 */
export function callerOf(c: RequestContext): AbortController {
  const socket = c.env?.outgoing?.socket
  if (!socket) return onSignal(c.req.raw.signal)
  const known = connections.get(socket)
  if (known) return known
  const caller = new AbortController()
  socket.once('close', () => caller.abort(new Disconnected()))
  connections.set(socket, caller)
  return caller
}

/** A controller that aborts with `signal`. */
export function onSignal(signal: AbortSignal): AbortController {
  const caller = new AbortController()
  if (signal.aborted) caller.abort(signal.reason)
  else signal.addEventListener('abort', () => caller.abort(signal.reason), { once: true })
  return caller
}

/** Resolves when the signal aborts; never, without one. */
export function aborted(signal: AbortSignal | undefined): Promise<undefined> {
  return new Promise(resolve => {
    if (signal?.aborted) resolve(undefined)
    else signal?.addEventListener('abort', () => resolve(undefined), { once: true })
  })
}
