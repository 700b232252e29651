import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import type { ReadableStream as WebStream } from 'node:stream/web'
import type { Context, Hono } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { textOf } from '../executor/model-text.ts'
import type { RunOptions } from '../executor/options.ts'
import { jsonProblem } from '../mcp/json-limit.ts'
import { traceContext } from '../telemetry/trace-context.ts'
import { isRecord } from '../util/guards.ts'
import type { Client } from './clients.ts'
import { HEARTBEAT_MS, MAX_BODY_BYTES, MAX_BODY_CHUNKS, MAX_WAITING_BYTES } from './limits.ts'

/** Node's request and response, if a request came over a real connection. */
export interface Bindings {
  incoming?: IncomingMessage
  outgoing?: ServerResponse
}

/** `client`: whose token it is; set except on open routes. */
export interface GatewayEnv {
  Bindings: Bindings & { client: Client }
}

export type App = Hono<GatewayEnv>
export type RequestContext = Context<GatewayEnv>
export type Body = Readonly<Record<string, unknown>>

/** A header, as Node has parsed it already: making a `Headers` object costs as much as a small call. Names in lower case. */
export function headerIn(request: Request, { incoming }: Bindings, name: string): string | undefined {
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

/** To be thrown by a route: the request is answered with this error. */
export function refusal(status: number, error: string, headers?: Record<string, string>): HTTPException {
  return new HTTPException(status as 400, { res: failure(status, error, headers) })
}

/** Asks the client to retry soon. */
export function busy(error: string): HTTPException {
  return refusal(503, error, { 'retry-after': '5', connection: 'close' })
}

export function shuttingDown(): HTTPException {
  return busy('Toolpost is shutting down')
}

/** Whether a client may open no more, such as streams: named clients have at most half of the places. */
export function isFull(owners: readonly Client[], client: Client, places: number): boolean {
  const own = owners.filter(({ key }) => key === client.key).length
  return owners.length >= places || (client.isNamed && own >= places / 2)
}

/** Throws a refusal if the request is a named client's. */
export function ownerOnly({ env }: RequestContext): void {
  if (env.client.isNamed) throw refusal(403, "Only the gateway's owner may do this")
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

/** The body of a request; read whole with `whole` if its length is known. Throws a refusal. */
async function readBody<Body>(c: RequestContext, maxBytes: number, whole: () => Promise<Body>) {
  const length = headerOf(c, 'content-length')
  if (Number(length ?? 0) > maxBytes) throw tooLarge(`is larger than ${maxBytes} bytes`)
  try {
    if (length !== undefined) return await whole()
    const chunks: Buffer[] = []
    let bytes = 0
    // Destroying the stream would close the connection before the refusal is sent.
    for await (const chunk of streamOf(c).iterator({ destroyOnReturn: false })) {
      bytes += chunk.length
      if (bytes > maxBytes) throw tooLarge(`is larger than ${maxBytes} bytes`)
      if (chunks.push(chunk) > MAX_BODY_CHUNKS) throw tooLarge(`has more than ${MAX_BODY_CHUNKS} chunks`)
    }
    return Buffer.concat(chunks)
  } catch (error) {
    throw error instanceof HTTPException ? error : refusal(400, 'The body ended early')
  }
}

/** Node's own stream, if there is one: a web stream costs much more for each chunk. */
function streamOf({ env, req }: RequestContext): Readable {
  return env.incoming ?? (req.raw.body ? Readable.fromWeb(req.raw.body as WebStream) : Readable.from([]))
}

/** The rest of the body is not read, so the connection cannot be reused. */
function tooLarge(problem: string): HTTPException {
  return refusal(413, `The body ${problem}`, { connection: 'close' })
}

export function readBytes(c: RequestContext, maxBytes: number): Promise<Uint8Array> {
  return readBody(c, maxBytes, async () => new Uint8Array(await c.req.raw.arrayBuffer()))
}

/** The JSON of a request body, `undefined` if it is empty. Throws a refusal, for malformed JSON that of `notJson`. */
export async function readJson(
  c: RequestContext,
  notJson = (problem: string) => refusal(400, problem),
): Promise<unknown> {
  const body = await readBody(c, MAX_BODY_BYTES, () => c.req.raw.text())
  const text = body.toString()
  const problem = jsonProblem(text)
  if (problem) throw refusal(413, `The body ${problem}`)
  try {
    return /\S/.test(text) ? JSON.parse(text) : undefined
  } catch (error) {
    throw notJson(`The body is not JSON: ${(error as Error).message}`)
  }
}

type BodyTypes = Readonly<Record<string, 'string' | 'number' | 'boolean' | 'object' | readonly string[]>>

/**
 * The JSON object in a request body; an empty one if it is anything else. `types` are those of its properties, or their
 * choices; a name ends with `?` if it may be left out. Throws a refusal.
 */
export async function bodyOf<Given = Body>(c: RequestContext, types: BodyTypes): Promise<Given> {
  const given = await readJson(c)
  const body = isRecord(given) ? given : {}
  for (const [name, type] of Object.entries(types)) {
    const key = name.replace('?', '')
    const value = body[key]
    if (value === undefined && key !== name) continue
    const isFit = typeof type === 'object' ? type.includes(String(value)) : typeof value === type
    const usual = type === 'string' ? 'a non-empty string' : `of type ${type}`
    const expected = typeof type === 'object' ? `one of ${type.join(', ')}` : usual
    if (!isFit || value === null || (value === '' && key === name) || Array.isArray(value))
      throw refusal(400, `'${key}' must be ${expected}`)
  }
  return body as Given
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
