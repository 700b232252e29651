import { bodyChunks } from '../../runtime/body-chunks.ts'
import { nextTurn } from '../../runtime/turns.ts'
import { LONG_BODY_CHARACTERS, MAX_BODIES_BYTES, SMALL_BODY_BYTES } from '../limits.ts'
import { busy, failure } from './answers.ts'
import { whyExpensive } from './json-cost.ts'

/*
 * Not Hono's `bodyLimit`: it opens every body as a stream, which makes a call over HTTP 2.5 times as expensive. And it
 * limits each body, not all of them together.
 */

/** The JSON of a request body, `undefined` if it is empty; or the response to an unacceptable body. */
export async function readJson(
  request: Request,
  maxBytes: number,
  notJson = (problem: string) => failure(400, problem),
): Promise<{ value: unknown } | Response> {
  const text = await read(request, maxBytes, 'text')
  if (text instanceof Response) return text
  if (text.trim() === '') return { value: undefined }
  // Each gets its own turn, however many arrive together.
  const isLong = text.length > LONG_BODY_CHARACTERS
  if (isLong) await nextTurn()
  const problem = whyExpensive(text)
  if (problem) return failure(413, `The body ${problem}`)
  try {
    const value: unknown = JSON.parse(text)
    if (isLong) await nextTurn()
    return { value }
  } catch (error) {
    return notJson(`The body is not JSON: ${(error as Error).message}`)
  }
}

/** The raw request body, or the response to an unacceptable one. */
export async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array | Response> {
  const bytes = await read(request, maxBytes, 'arrayBuffer')
  return bytes instanceof Response ? bytes : new Uint8Array(bytes)
}

/** The total size being read. Small bodies do not count: the connections are bounded. */
let reservedBytes = 0

/** Reads either form directly from the request if its length is known: `request.text()` is the fast path. */
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
    const isShort = length !== null && bytes <= LONG_BODY_CHARACTERS
    const body = isShort ? request : new Response(await collected(request.body, maxBytes))
    const value = await (body[form]() as ReturnType<Request[Form]>)
    return sizeOf(value) > maxBytes ? tooLarge(maxBytes) : value
  } catch (error) {
    return error instanceof TooLarge ? tooLarge(maxBytes) : failure(400, 'The body ended early')
  } finally {
    reservedBytes -= reserved
  }
}

/** Over HTTP, a body cannot exceed its Content-Length; a request made in code can. */
function sizeOf(value: string | ArrayBuffer): number {
  return typeof value === 'string' ? value.length : value.byteLength
}

class TooLarge extends Error {}

/** Collects a long body over several turns; rejects one that is too large. */
async function collected(body: ReadableStream<Uint8Array> | null, maxBytes: number): Promise<Blob> {
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let bytes = 0
  for await (const chunk of body ? bodyChunks(body.getReader()) : []) {
    bytes += chunk.byteLength
    if (bytes > maxBytes) throw new TooLarge()
    chunks.push(chunk as Uint8Array<ArrayBuffer>)
  }
  return new Blob(chunks)
}

function tooLarge(maxBytes: number): Response {
  // The rest of the body is not read, so the connection cannot be reused.
  return failure(413, `The body is larger than ${maxBytes} bytes`, { connection: 'close' })
}
