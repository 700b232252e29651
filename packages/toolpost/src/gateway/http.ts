import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Context, Hono } from 'hono'
import { textOf } from '../executor/model-text.ts'
import type { RunOptions } from '../executor/options.ts'
import { jsonProblem } from '../mcp/json-limit.ts'
import { traceContext } from '../telemetry/trace-context.ts'
import { isRecord } from '../util/guards.ts'
import type { Client } from './clients.ts'
import { HEARTBEAT_MS, MAX_BODY_BYTES, MAX_WAITING_BYTES } from './limits.ts'

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
export type Body = Record<string, unknown>

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
  return content(jsonText(value), headers, status)
}

export function content(
  body: ConstructorParameters<typeof Response>[0],
  headers?: Record<string, string>,
  status = 200,
): Response {
  return new Response(body, { status, headers: headers ? { ...API_HEADERS, ...headers } : API_HEADERS })
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

export function noContent(): Response {
  return new Response(null, { status: 204 })
}

/** One server-sent event. The data is JSON, so it has no line break that could start another event. */
export function eventText(event: string, data: unknown): string {
  return `event: ${event}\ndata: ${jsonText(data)}\n\n`
}

const encoder = new TextEncoder()

/**
 * Server-sent events to one client; `onEnd` is called once when it has ended, by either side. A client that does not read
 * is cut off, for which Node's response is the only way; a quiet connection shows that it is alive.
 */
export class EventStream {
  readonly response: Response
  readonly #onEnd: () => void
  readonly #outgoing: ServerResponse | undefined
  readonly #heartbeat = setInterval(() => this.write(': still here\n\n'), HEARTBEAT_MS).unref()
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined

  constructor(onEnd: () => void, outgoing?: ServerResponse) {
    this.#onEnd = onEnd
    this.#outgoing = outgoing
    const start = (controller: ReadableStreamDefaultController<Uint8Array>) => {
      this.#controller = controller
    }
    const queue = new ByteLengthQueuingStrategy({ highWaterMark: MAX_WAITING_BYTES })
    const body = new ReadableStream<Uint8Array>({ start, cancel: () => void this.#end() }, queue)
    this.response = new Response(body, { headers: EVENT_STREAM_HEADERS })
  }

  /** Whole events, as text. */
  write(text: string): void {
    if ((this.#controller?.desiredSize ?? 1) > 0) return this.#controller?.enqueue(encoder.encode(text))
    const controller = this.#end()
    if (this.#outgoing) this.#outgoing.destroy()
    else controller?.error(new Error('The client reads too slowly'))
  }

  close(): void {
    this.#end()?.close()
  }

  #end(): ReadableStreamDefaultController<Uint8Array> | undefined {
    const controller = this.#controller
    this.#controller = undefined
    clearInterval(this.#heartbeat)
    if (controller) this.#onEnd()
    return controller
  }
}

/** The body of a request, read whole with `whole` if its length is known; or the response to a bad one. */
async function readBody<Body>(c: RequestContext, maxBytes: number, whole: () => Promise<Body>) {
  const length = headerOf(c, 'content-length')
  const chunks: Uint8Array[] = []
  let bytes = Number(length ?? 0)
  try {
    if (length !== undefined && bytes <= maxBytes) return await whole()
    for await (const chunk of (bytes <= maxBytes && c.req.raw.body) || []) {
      bytes += chunk.length
      if (bytes > maxBytes) break
      chunks.push(chunk)
    }
  } catch {
    return failure(400, 'The body ended early')
  }
  if (bytes <= maxBytes) return Buffer.concat(chunks)
  // The rest is not read, so the connection cannot be reused.
  return failure(413, `The body is larger than ${maxBytes} bytes`, { connection: 'close' })
}

export function readBytes(c: RequestContext, maxBytes: number): Promise<Uint8Array | Response> {
  return readBody(c, maxBytes, async () => new Uint8Array(await c.req.raw.arrayBuffer()))
}

/** The JSON of a request body, `undefined` if it is empty; or the response to an unacceptable body. */
export async function readJson(
  c: RequestContext,
  notJson = (problem: string) => failure(400, problem),
): Promise<{ value: unknown } | Response> {
  const body = await readBody(c, MAX_BODY_BYTES, () => c.req.raw.text())
  if (body instanceof Response) return body
  const text = body.toString()
  const problem = jsonProblem(text)
  if (problem) return failure(413, `The body ${problem}`)
  try {
    return { value: /\S/.test(text) ? JSON.parse(text) : undefined }
  } catch (error) {
    return notJson(`The body is not JSON: ${(error as Error).message}`)
  }
}

/** Answers a request with a JSON object as its body; an empty one if it is anything else. */
export async function withBody(
  c: RequestContext,
  answer: (body: Body) => Response | Promise<Response>,
): Promise<Response> {
  const body = await readJson(c)
  if (body instanceof Response) return body
  return answer(isRecord(body.value) ? body.value : {})
}

/** A preference of a request (RFC 7240), such as `respond-async, wait=10`: its value, empty if it has none. */
export function preferenceOf(c: RequestContext, name: string): string | undefined {
  const given = headerOf(c, 'prefer')?.split(',') ?? []
  const found = given
    .map(each => each.split(';', 1)[0]?.split('='))
    .find(each => each?.[0]?.trim().toLowerCase() === name)
  return found && (found[1] ?? '').trim().replaceAll('"', '')
}

/** The `meta` for the calls of a request: the trace named in its headers. */
export function metaOf(c: RequestContext): RunOptions['meta'] {
  return traceContext(name => headerOf(c, name)) as RunOptions['meta']
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
