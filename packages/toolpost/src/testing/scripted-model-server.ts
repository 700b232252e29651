import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** A reply of a fake model server, independent of its wire format. */
export interface FakeReply {
  /** An array is streamed piece by piece. */
  text?: string | readonly string[]
  calls?: readonly FakeCall[]
  /** Why the model stopped, in the provider's words. */
  stopReason?: string | undefined
  /** Refuses with this status instead of answering. */
  status?: number
  /** The message of a refusal; with no `status`, an error in the middle of the stream. */
  error?: string | undefined
  headers?: Record<string, string>
  /** Responds with just this body, as a proxy or another program would. */
  body?: string
  /** Goes silent, before the first byte or after the text, until the client disconnects. */
  hangs?: 'before' | 'after'
  /** Ends too early, after the text: `socket` breaks the connection, `stream` closes it cleanly. */
  cut?: 'socket' | 'stream'
  /** Sends this line in the middle of the stream. */
  garbage?: string
}

interface FakeCall {
  name: string
  args?: Record<string, unknown>
  /** Sent unchanged in place of the arguments, whatever it is. */
  rawArgs?: unknown
  id?: string
}

/** A request as it arrived. */
export interface RecordedRequest<Body> {
  path: string
  headers: IncomingHttpHeaders
  body: Body
  /** Settles when the client has closed the connection. */
  closed: Promise<void>
}

/** What is replied next: text, a reply, or a function of the request. */
export type NextReply<Body> = FakeReply | string | ((body: Body) => FakeReply | string)

export interface FakeModelServer<Body> {
  readonly url: string
  readonly requests: RecordedRequest<Body>[]
  /** Settles when this many model requests have arrived. */
  received(count: number): Promise<void>
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** A reply as the formats write it. */
export interface ScriptedReply extends Pick<FakeReply, 'error' | 'stopReason'> {
  texts: readonly string[]
  /** The arguments also as JSON in two halves, as in a real stream. */
  calls: (FakeCall & { id: string; halves: [string, string] })[]
}

export interface WireFormat<Body extends { stream: boolean }> {
  path: string
  contentType: string
  check(body: Body, headers: IncomingHttpHeaders): FakeReply | undefined
  refusal(message: string, status: number): object
  /** The pieces of the reply, before and after the point where a stream can hang or be cut. */
  pieces(reply: ScriptedReply, turn: number): { first: string[]; rest: string[] }
  whole?(reply: ScriptedReply, turn: number): object
  ready?(): Promise<void>
  /** The reply at any other path, if there is one. */
  other?(path: string, body: unknown): FakeReply | undefined
}

/** A server on loopback that speaks a provider's format and replies from a script. */
export async function startModelServer<Body extends { stream: boolean }>(
  format: WireFormat<Body>,
  script: readonly NextReply<Body>[] = [],
): Promise<FakeModelServer<Body>> {
  const requests: RecordedRequest<Body>[] = []
  const waiting = new Set<() => void>()
  const answerTo = (body: Body, headers: IncomingHttpHeaders, turn: number): FakeReply => {
    const next = script[turn - 1] ?? { status: 500, error: `the script has no turn ${turn}` }
    const reply = typeof next === 'function' ? next(body) : next
    return format.check(body, headers) ?? (typeof reply === 'string' ? { text: reply } : reply)
  }
  const server = createServer(async (request, response) => {
    const { url: path = '', headers, socket } = request
    const body = parsed(await text(request)) as Body
    if (path !== format.path) {
      const reply = format.other?.(path, body) ?? { status: 404, error: `no such path: ${path}` }
      return send(reply, format, { turn: 0, response, isStream: false })
    }
    const closed = new Promise<void>(resolve => socket.once('close', () => resolve()))
    const turn = requests.push({ path, headers, body, closed })
    for (const check of waiting) check()
    await format.ready?.()
    // Whoever can also answer in one piece does so unless asked for a stream.
    const isStream = body.stream ?? format.whole === undefined
    send(answerTo(body, headers, turn), format, { turn, response, isStream })
  })
  // Every request listens for its end, and clients keep connections.
  server.on('connection', socket => socket.setMaxListeners(0))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const close = () =>
    new Promise<void>(resolve => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    received: count =>
      new Promise(resolve => {
        const check = () => requests.length >= count && waiting.delete(check) && resolve()
        waiting.add(check)
        check()
      }),
    close,
    [Symbol.asyncDispose]: close,
  }
}

function send<Body extends { stream: boolean }>(
  reply: FakeReply,
  { contentType, refusal, pieces, whole }: WireFormat<Body>,
  { turn, response, isStream }: { turn: number; response: ServerResponse; isStream: boolean },
): void {
  const { status, error, body, hangs, garbage, cut, headers = {} } = reply
  if (hangs === 'before') return
  const type = { 'content-type': isStream && status === undefined ? contentType : 'application/json' }
  response.writeHead(status ?? 200, { ...(body === undefined && type), ...headers })
  if (body !== undefined) return void response.end(body)
  if (status !== undefined) return void response.end(JSON.stringify(refusal(error ?? 'refused', status)))
  const calls = (reply.calls ?? []).map((call, at) => {
    const json = call.rawArgs === undefined ? JSON.stringify(call.args ?? {}) : String(call.rawArgs)
    const half = Math.ceil(json.length / 2)
    const halves: [string, string] = [json.slice(0, half), json.slice(half)]
    return { ...call, id: call.id ?? `call_${turn}_${at}`, halves }
  })
  const { stopReason } = reply
  const written = { texts: [reply.text ?? []].flat(), calls, error, stopReason }
  if (!isStream && whole) return void response.end(JSON.stringify(whole(written, turn)))
  const { first, rest } = pieces(written, turn)
  for (const piece of [...first, garbage ?? '']) response.write(piece)
  if (hangs === 'after') return
  if (cut === 'socket') return void response.write('', () => response.destroy())
  if (cut === undefined) for (const piece of rest) response.write(piece)
  response.end()
}

export const jsonReply = (value: object): FakeReply => ({
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(value),
})

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return json
  }
}
