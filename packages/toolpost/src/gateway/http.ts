import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Context, Hono } from 'hono'
import { textOf } from '../executor/model-text.ts'
import type { RunOptions } from '../executor/options.ts'
import { jsonProblem } from '../mcp/json-limit.ts'
import { traceContext } from '../telemetry/trace-context.ts'
import { isRecord } from '../util/guards.ts'
import type { Client } from './clients.ts'
import { HEARTBEAT_MS, MAX_BODY_BYTES, MAX_STREAMS, MAX_WAITING_BYTES } from './limits.ts'

/** Node's request and response, if a request came over a real connection. */
export interface NodeBindings {
  incoming?: IncomingMessage
  outgoing?: ServerResponse
}

/** `client`: whose token it is; set except on open routes. */
export interface GatewayEnv {
  Bindings: NodeBindings & { client: Client }
}

export type App = Hono<GatewayEnv>
export type RequestContext = Context<GatewayEnv>

/** A header, as Node has parsed it already: making a `Headers` object costs as much as a small call. Names in lower case. */
export function headerIn(request: Request, { incoming }: NodeBindings, name: string): string | undefined {
  if (incoming) return incoming.headers[name] as string | undefined
  return request.headers.get(name) ?? undefined
}

export function headerOf(c: RequestContext, name: string): string | undefined {
  return headerIn(c.req.raw, c.env, name)
}

/** The headers of every response that is not a page. */
const API_HEADERS = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
} as const

/** For streams: nothing between here and the client may buffer them. */
export const EVENT_STREAM_HEADERS = {
  ...API_HEADERS,
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
} as const

export function json(value: unknown, status = 200, headers?: Record<string, string>): Response {
  return rawJson(jsonText(value), status, headers)
}

export function rawJson(text: string, status = 200, headers?: Record<string, string>): Response {
  return new Response(text, { status, headers: headers ? { ...API_HEADERS, ...headers } : API_HEADERS })
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

/** Asks the client to retry soon. */
export function busy(error: string): Response {
  return failure(503, error, { 'retry-after': '5', connection: 'close' })
}

export function shuttingDown(): Response {
  return busy('Toolpost is shutting down')
}

/** Something else than JSON. */
export function content(
  body: string | Uint8Array<ArrayBuffer> | ReadableStream,
  headers: Record<string, string>,
): Response {
  return new Response(body, { headers: { ...API_HEADERS, ...headers } })
}

/** One server-sent event. The data is JSON, so it has no line break that could start another event. */
export function eventText(event: string, data: unknown): string {
  return `event: ${event}\ndata: ${jsonText(data)}\n\n`
}

const encoder = new TextEncoder()

export interface EventStreamOptions {
  /** Called once when the stream has ended, by either side. */
  onEnd?: (() => void) | undefined
  /** Node's response: the only way to cut off a client that does not read. */
  outgoing?: ServerResponse | undefined
}

/** Server-sent events to one client. One that does not read is cut off; a quiet connection shows that it is alive. */
export class EventStream {
  readonly response: Response
  readonly #options: EventStreamOptions
  readonly #heartbeat = setInterval(() => this.write(': still here\n\n'), HEARTBEAT_MS).unref()
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined

  constructor(options: EventStreamOptions = {}) {
    this.#options = options
    const start = (controller: ReadableStreamDefaultController<Uint8Array>) => {
      this.#controller = controller
    }
    const queue = new ByteLengthQueuingStrategy({ highWaterMark: MAX_WAITING_BYTES })
    const body = new ReadableStream<Uint8Array>({ start, cancel: () => this.#end() }, queue)
    this.response = new Response(body, { headers: EVENT_STREAM_HEADERS })
  }

  /** Whole events, as text. */
  write(text: string): void {
    const controller = this.#controller
    if (!controller) return
    if ((controller.desiredSize ?? 0) > 0) return controller.enqueue(encoder.encode(text))
    this.#end()
    const { outgoing } = this.#options
    if (outgoing) outgoing.destroy()
    else controller.error(new Error('The client reads too slowly'))
  }

  close(): void {
    const controller = this.#controller
    this.#end()
    controller?.close()
  }

  #end(): void {
    if (!this.#controller) return
    this.#controller = undefined
    clearInterval(this.#heartbeat)
    this.#options.onEnd?.()
  }
}

/** Counts the open streams of all kinds. */
export class Streams {
  readonly #open = new Set<object>()

  get areFull(): boolean {
    return this.#open.size >= MAX_STREAMS
  }

  /** Counts one more, until the returned function is called. */
  add(): () => void {
    const one = {}
    this.#open.add(one)
    return () => void this.#open.delete(one)
  }
}

/** The body of a request, read with `whole` if its length is known; or the response to one that is too large or breaks off. */
async function readBody<Body>(
  c: RequestContext,
  maxBytes: number,
  whole: () => Promise<Body>,
): Promise<Body | Buffer | Response> {
  // The rest is not read, so the connection cannot be reused.
  const tooLarge = () => failure(413, `The body is larger than ${maxBytes} bytes`, { connection: 'close' })
  const length = headerOf(c, 'content-length')
  if (Number(length) > maxBytes) return tooLarge()
  try {
    if (length !== undefined) return await whole()
    const chunks: Uint8Array[] = []
    let bytes = 0
    for await (const chunk of c.req.raw.body ?? []) {
      bytes += chunk.length
      if (bytes > maxBytes) return tooLarge()
      chunks.push(chunk)
    }
    return Buffer.concat(chunks)
  } catch {
    return failure(400, 'The body ended early')
  }
}

export function readBytes(c: RequestContext, maxBytes: number): Promise<Uint8Array | Response> {
  return readBody(c, maxBytes, async () => new Uint8Array(await c.req.arrayBuffer()))
}

/** The JSON of a request body, `undefined` if it is empty; or the response to an unacceptable body. */
export async function readJson(
  c: RequestContext,
  notJson = (problem: string) => failure(400, problem),
): Promise<{ value: unknown } | Response> {
  const body = await readBody(c, MAX_BODY_BYTES, () => c.req.text())
  if (body instanceof Response) return body
  const text = body.toString()
  const problem = jsonProblem(text)
  if (problem) return failure(413, `The body ${problem}`)
  if (text.trim() === '') return { value: undefined }
  try {
    return { value: JSON.parse(text) }
  } catch (error) {
    return notJson(`The body is not JSON: ${(error as Error).message}`)
  }
}

/** Answers a request with a JSON object as its body; an empty one if it is anything else. */
export async function withBody(
  c: RequestContext,
  answer: (body: Record<string, unknown>) => Response | Promise<Response>,
): Promise<Response> {
  const body = await readJson(c)
  if (body instanceof Response) return body
  return answer(isRecord(body.value) ? body.value : {})
}

const NONE: ReadonlyMap<string, string> = new Map()

/** The preferences of a request (RFC 7240): `respond-async, wait=10`. Names in lower case. */
export function preferencesOf(c: RequestContext): ReadonlyMap<string, string> {
  const given = headerOf(c, 'prefer')
  if (given === undefined) return NONE
  return new Map(
    given.split(',').map(each => {
      const [name = '', value = ''] = (each.split(';')[0] ?? '').split('=')
      return [name.trim().toLowerCase(), value.trim().replaceAll('"', '')]
    }),
  )
}

/** The `meta` for the calls of a request: the trace named in its headers. */
export function metaOf(header: (name: string) => string | undefined): RunOptions['meta'] {
  return traceContext(header) as RunOptions['meta']
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
  const socket = c.env.outgoing?.socket
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
