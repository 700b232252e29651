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
  stopReason?: string
  /** Refuses with this status instead of answering. */
  status?: number
  /** The message of a refusal; with no `status`, an error in the middle of the stream. */
  error?: string
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

type NextReply<Body> = FakeReply | string | ((body: Body) => FakeReply | string)

export interface FakeModelServer<Body> {
  readonly url: string
  /** Every model request, in order. */
  readonly requests: RecordedRequest<Body>[]
  /** Adds replies to the script. */
  script(...replies: NextReply<Body>[]): void
  /** Settles when this many model requests have arrived. */
  received(count: number): Promise<void>
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** A provider's wire format. */
export interface WireFormat<Body> {
  /** The path of model requests. */
  path: string
  /** The content type of a stream, or of another reply to this request. */
  contentType: string | ((body: Body) => string)
  /** The provider's refusal of an invalid request. */
  check(body: Body, headers: IncomingHttpHeaders): FakeReply | undefined
  /** The body of a refusal. */
  refusal(message: string, status: number): object
  /** The pieces of the reply, before and after the point where a stream can hang or be cut. */
  pieces(reply: FakeReply, turn: number, body: Body): { first: string[]; rest: string[] }
  /** Settles when the server is ready to reply. */
  ready?(): Promise<void>
  /** The reply at any other path, if there is one. */
  other?(path: string, body: unknown): FakeReply | undefined
}

/** A server on loopback that speaks a provider's format and replies from a script. */
export async function startModelServer<Body>(
  format: WireFormat<Body>,
  replies: readonly NextReply<Body>[] = [],
): Promise<FakeModelServer<Body>> {
  const script = [...replies]
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
      return send(reply, format, { turn: 0, response, body })
    }
    const closed = new Promise<void>(resolve => socket.once('close', () => resolve()))
    const turn = requests.push({ path, headers, body, closed })
    for (const check of waiting) check()
    await format.ready?.()
    send(answerTo(body, headers, turn), format, { turn, response, body })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const close = () =>
    new Promise<void>(resolve => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    script: (...more) => void script.push(...more),
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

function send<Body>(
  reply: FakeReply,
  format: WireFormat<Body>,
  { turn, response, body: asked }: { turn: number; response: ServerResponse; body: Body },
): void {
  const { status, error = 'refused', body, hangs, garbage, cut } = reply
  if (hangs === 'before') return
  for (const [name, value] of Object.entries(reply.headers ?? {})) response.setHeader(name, value)
  if (body !== undefined) return void response.writeHead(status ?? 200).end(body)
  const { contentType } = format
  const type = typeof contentType === 'string' ? contentType : contentType(asked)
  response.setHeader('content-type', status === undefined ? type : 'application/json')
  if (status !== undefined)
    return void response.writeHead(status).end(JSON.stringify(format.refusal(error, status)))
  const { first, rest } = format.pieces(reply, turn, asked)
  for (const piece of [...first, garbage ?? '']) response.write(piece)
  if (hangs === 'after') return
  if (cut === 'socket') return void response.write('', () => response.destroy())
  if (cut === undefined) for (const piece of rest) response.write(piece)
  response.end()
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return json
  }
}
