import { ownTurn } from '../../runtime/slices.ts'
import { LONG_BODY_CHARACTERS, MAX_BODIES_BYTES, SMALL_BODY_BYTES } from '../limits.ts'
import { busy, failure } from './answers.ts'
import { whyDear } from './json-cost.ts'

/*
 * Not Hono's `bodyLimit`: it opens every body as a stream, which makes a call over HTTP 2.5 times as dear. And it limits
 * one body, not all of them together.
 */

/** The JSON of a request's body, `undefined` for an empty one; or the answer to a body that cannot be taken. */
export async function readJson(
  request: Request,
  maxBytes: number,
  notJson = (problem: string) => failure(400, problem),
): Promise<{ value: unknown } | Response> {
  const text = await read(request, maxBytes, 'text')
  if (text instanceof Response) return text
  if (text.trim() === '') return { value: undefined }
  const isLong = text.length > LONG_BODY_CHARACTERS
  if (isLong) await ownTurn()
  const problem = whyDear(text)
  if (problem) return failure(413, `The body ${problem}`)
  try {
    const value: unknown = JSON.parse(text)
    if (isLong) await ownTurn()
    return { value }
  } catch (error) {
    return notJson(`The body is not JSON: ${(error as Error).message}`)
  }
}

/** A request's body as it is, or the answer to one that cannot be taken. */
export async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array | Response> {
  const bytes = await read(request, maxBytes, 'arrayBuffer')
  return bytes instanceof Response ? bytes : new Uint8Array(bytes)
}

/** What is being read now, of all requests together. Small bodies do not count: the connections are bounded. */
let reservedBytes = 0

/** Both are of one form, so that the quick way (`request.text()`) is taken for a body whose length is known. */
async function read<Form extends 'text' | 'arrayBuffer'>(
  request: Request,
  maxBytes: number,
  form: Form,
): Promise<Awaited<ReturnType<Request[Form]>> | Response> {
  const length = request.headers.get('content-length')
  const bytes = length === null ? maxBytes : Number(length)
  if (bytes > maxBytes) return tooLarge(maxBytes)
  const reserved = bytes > SMALL_BODY_BYTES ? bytes : 0
  if (reservedBytes + reserved > MAX_BODIES_BYTES) return busy('Too many large requests at once')
  reservedBytes += reserved
  try {
    const body = length === null ? new Response(counted(request.body, maxBytes)) : request
    const value = await (body[form]() as ReturnType<Request[Form]>)
    return sizeOf(value) > maxBytes ? tooLarge(maxBytes) : value
  } catch (error) {
    return error instanceof TooLarge ? tooLarge(maxBytes) : failure(400, 'The body ended early')
  } finally {
    reservedBytes -= reserved
  }
}

/** A length that was given is one that HTTP holds the client to; a request that did not come by HTTP may be larger. */
function sizeOf(value: string | ArrayBuffer): number {
  return typeof value === 'string' ? value.length : value.byteLength
}

class TooLarge extends Error {}

/** The body, for as long as it is not too large. */
function counted(body: ReadableStream<Uint8Array> | null, maxBytes: number) {
  let bytes = 0
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => {
      bytes += chunk.byteLength
      if (bytes > maxBytes) controller.error(new TooLarge())
      else controller.enqueue(chunk)
    },
  })
  return body?.pipeThrough(counter) ?? null
}

function tooLarge(maxBytes: number): Response {
  // What is left of the body is not read: the connection cannot be used again.
  return failure(413, `The body is larger than ${maxBytes} bytes`, { connection: 'close' })
}
