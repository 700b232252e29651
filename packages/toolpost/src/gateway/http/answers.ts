import { JsonWriter } from '../../runtime/json-writer.ts'
import { nextTurn } from '../../runtime/turns.ts'

/**
 * The headers of every response that is not a page. By hand: Hono's `secureHeaders` makes a call over HTTP 1.15 times
 * as expensive.
 */
const API_HEADERS = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
} as const

const TEXT_HEADERS = { ...API_HEADERS, 'content-type': 'text/plain; version=0.0.4; charset=utf-8' } as const

/** For streams: nothing between here and the client may buffer them. */
export const EVENT_STREAM_HEADERS = {
  ...API_HEADERS,
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
} as const

/** Any `value` as JSON. A large one is written in slices while it is sent. */
export function json(value: unknown, status = 200, headers?: Record<string, string>): Response {
  const writer = new JsonWriter(value)
  const first = writer.next()
  return new Response(writer.isDone ? first : slices(first, writer), {
    status,
    headers: headers ? { ...API_HEADERS, ...headers } : API_HEADERS,
  })
}

function slices(first: string, writer: JsonWriter): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  return new ReadableStream<Uint8Array>({
    start: controller => controller.enqueue(encoder.encode(first)),
    async pull(controller) {
      await nextTurn()
      controller.enqueue(encoder.encode(writer.next()))
      if (writer.isDone) controller.close()
    },
  })
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

/** An error of the API itself, in one sentence. */
export function failure(status: number, error: string, headers?: Record<string, string>): Response {
  return json({ error }, status, headers)
}

export const NO_TOKEN = 'The token is missing or wrong: send it as Authorization: Bearer <token>'

/** Asks the client to retry soon. Closes the connection, since there are too many. */
export function busy(error: string): Response {
  return failure(503, error, { 'retry-after': '5', connection: 'close' })
}

/** 401 without OAuth: the token is missing or wrong. */
export function tokenRequired(): Response {
  return failure(401, NO_TOKEN, { 'www-authenticate': 'Bearer' })
}

export function shuttingDown(): Response {
  return failure(503, 'Toolpost is shutting down')
}

/** A tool's content, unchanged. Nothing in it may run, whatever type it claims to be. */
export function bytes(content: Buffer, headers: Record<string, string>): Response {
  const safe = { 'content-security-policy': "default-src 'none'; sandbox" }
  return new Response(content as Uint8Array<ArrayBuffer>, {
    headers: { ...API_HEADERS, ...safe, ...headers },
  })
}

export function plainText(text: string): Response {
  return new Response(text, { headers: TEXT_HEADERS })
}
