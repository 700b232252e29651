import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

/** What a fake model server answers with; the wire format is the server's. */
export interface FakeReply {
  /** In pieces, to be streamed as such. */
  text?: string | readonly string[]
  calls?: readonly FakeCall[]
  /** Why the model stopped, in the provider's words. */
  stopReason?: string
  /** Refuses with this status instead of answering. */
  status?: number
  /** The message of a refusal; with no `status`, an error in the middle of the stream. */
  error?: string
  headers?: Record<string, string>
  /** Answers with this body and no more: what a proxy or another program would say. */
  body?: string
  /** Says nothing more, before the first byte or after the text, until the client goes away. */
  hangs?: 'before' | 'after'
  /** Ends too early, after the text: `socket` breaks the connection, `stream` closes it in good order. */
  cut?: 'socket' | 'stream'
  /** Sends this line into the middle of the stream. */
  garbage?: string
}

interface FakeCall {
  name: string
  args?: Record<string, unknown>
  /** Sent for the arguments as it stands, whatever it is. */
  rawArgs?: unknown
  id?: string
}

/** A request as it came. */
export interface RecordedRequest<Body> {
  path: string
  headers: IncomingMessage['headers']
  body: Body
  /** Settles when the client has closed the connection. */
  closed: Promise<void>
}

type NextReply<Body> = FakeReply | string | ((body: Body) => FakeReply | string)

export interface FakeModelServer<Body> {
  readonly url: string
  /** Every request for an answer, in order. */
  readonly requests: RecordedRequest<Body>[]
  /** Adds to what it will answer. */
  script(...replies: NextReply<Body>[]): void
  /** Settles when so many requests for an answer have come. */
  received(count: number): Promise<void>
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** How a provider speaks. */
export interface WireFormat<Body> {
  /** The path that answers are asked for at. */
  path: string
  /** What is wrong with a request, as the provider would refuse it. */
  check(body: Body, headers: IncomingMessage['headers']): { status: number; message: string } | undefined
  refuse(response: ServerResponse, status: number, message: string): void
  /** The pieces of the answer, before and after the place where a stream can be held up or cut. */
  pieces(reply: FakeReply, turn: number): { head: Record<string, string>; first: string[]; rest: string[] }
  /** Answers any other path; says whether it did. */
  other?(path: string, body: unknown, response: ServerResponse): boolean
}

/** A server on loopback that speaks a provider's format and answers from a script. */
export async function startModelServer<Body>(
  format: WireFormat<Body>,
  replies: readonly NextReply<Body>[],
): Promise<FakeModelServer<Body>> {
  const script = [...replies]
  const requests: RecordedRequest<Body>[] = []
  const waiting = new Set<() => void>()
  const server = createServer(async (request, response) => {
    const body = await readJson(request)
    const path = request.url ?? ''
    if (path !== format.path) {
      if (!format.other?.(path, body, response)) format.refuse(response, 404, `no such path: ${path}`)
      return
    }
    requests.push({ path, headers: request.headers, body: body as Body, closed: closing(response) })
    for (const check of waiting) check()
    respond(format, { script, turn: requests.length, body: body as Body, request, response })
  })
  const url = await listen(server)
  const close = () => stop(server)
  return {
    url,
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

interface Exchange<Body> {
  script: NextReply<Body>[]
  turn: number
  body: Body
  request: IncomingMessage
  response: ServerResponse
}

function respond<Body>(format: WireFormat<Body>, exchange: Exchange<Body>): void {
  const { script, turn, body, request, response } = exchange
  const next = script[turn - 1]
  const reply = typeof next === 'function' ? next(body) : next
  const refusal = format.check(body, request.headers)
  if (refusal) return format.refuse(response, refusal.status, refusal.message)
  if (reply === undefined) return format.refuse(response, 500, `the script has no turn ${turn}`)
  send(format, typeof reply === 'string' ? { text: reply } : reply, { turn, response })
}

function send<Body>(
  format: WireFormat<Body>,
  reply: FakeReply,
  { turn, response }: { turn: number; response: ServerResponse },
): void {
  if (reply.hangs === 'before') return
  for (const [name, value] of Object.entries(reply.headers ?? {})) response.setHeader(name, value)
  if (reply.body !== undefined) return void response.writeHead(reply.status ?? 200).end(reply.body)
  if (reply.status !== undefined) return format.refuse(response, reply.status, reply.error ?? 'refused')
  const { head, first, rest } = format.pieces(reply, turn)
  response.writeHead(200, head)
  for (const piece of first) response.write(piece)
  if (reply.garbage !== undefined) response.write(reply.garbage)
  if (reply.hangs === 'after') return
  if (reply.cut === 'socket') return void response.write('', () => response.destroy())
  if (reply.cut === undefined) for (const piece of rest) response.write(piece)
  response.end()
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString('utf8')
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function closing(response: ServerResponse): Promise<void> {
  const socket = response.socket as Socket
  return new Promise(resolve => socket.once('close', resolve))
}

function listen(server: Server): Promise<string> {
  return new Promise(resolve => {
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
  })
}

function stop(server: Server): Promise<void> {
  return new Promise(resolve => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}
