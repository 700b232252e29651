import { bodyChunks } from '../../runtime/body-chunks.ts'
import { parseInSlices } from '../../runtime/sliced-json.ts'
import { nextTurn } from '../../runtime/turns.ts'
import {
  LONG_BODY_CHARACTERS,
  MAX_BODIES_BYTES,
  MAX_JSON_COST,
  SLICED_BODY_CHARACTERS,
  SMALL_BODY_BYTES,
} from '../limits.ts'
import { busy, failure } from './answers.ts'
import { jsonCost } from './json-cost.ts'

/*
 * Not Hono's `bodyLimit`: it opens every body as a stream, which makes a call over HTTP 2.5 times as expensive. And it
 * limits each body, not all of them together.
 */

export interface ReadOptions {
  /** The response to a body that is not JSON. */
  notJson?: ((problem: string) => Response) | undefined
  /** Checked between turns: once it returns `false`, the rest is only received, and neither kept nor parsed. */
  isWanted?: (() => boolean) | undefined
}

/** The JSON of a request body, `undefined` if it is empty; or the response to an unacceptable body. */
export async function readJson(
  request: Request,
  maxBytes: number,
  { notJson = problem => failure(400, problem), isWanted = always }: ReadOptions = {},
): Promise<{ value: unknown } | Response> {
  const text = await read(request, { maxBytes, form: 'text', isWanted })
  if (text instanceof Response) return text
  if (text.trim() === '') return { value: undefined }
  try {
    return text.length > LONG_BODY_CHARACTERS ? await parseLong(text, isWanted) : { value: JSON.parse(text) }
  } catch (error) {
    return notJson(`The body is not JSON: ${(error as Error).message}`)
  }
}

const always = () => true

/** Each long body gets its own turns, however many arrive together. */
async function parseLong(text: string, isWanted: () => boolean): Promise<{ value: unknown } | Response> {
  await nextTurn()
  if (!isWanted()) return { value: undefined }
  const cost = jsonCost(text)
  if (typeof cost === 'object') return failure(413, `The body ${cost.problem}`)
  if (text.length > SLICED_BODY_CHARACTERS) return parseSliced(text, cost, isWanted)
  const value: unknown = JSON.parse(text)
  await nextTurn()
  return { value }
}

/** The total cost of the bodies being parsed in slices. */
let slicedCost = 0

/** One expensive body takes a second in the slices it gets; several would all be late. */
async function parseSliced(
  text: string,
  cost: number,
  isWanted: () => boolean,
): Promise<{ value: unknown } | Response> {
  if (slicedCost > 0 && slicedCost + cost > MAX_JSON_COST) return busy('Too many large requests at once')
  slicedCost += cost
  try {
    return { value: await parseInSlices(text, { maxValues: text.length, isWanted }) }
  } finally {
    slicedCost -= cost
  }
}

/** The raw request body, or the response to an unacceptable one. */
export async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array | Response> {
  const bytes = await read(request, { maxBytes, form: 'arrayBuffer', isWanted: always })
  return bytes instanceof Response ? bytes : new Uint8Array(bytes)
}

/** The total size being read. Small bodies do not count: the connections are bounded. */
let reservedBytes = 0

/** Reads either form directly from the request if its length is known: `request.text()` is the fast path. */
async function read<Form extends 'text' | 'arrayBuffer'>(
  request: Request,
  { maxBytes, form, isWanted }: { maxBytes: number; form: Form; isWanted: () => boolean },
): Promise<Awaited<ReturnType<Request[Form]>> | Response> {
  const length = request.headers.get('content-length')
  const bytes = length === null ? maxBytes : Number(length)
  if (bytes > maxBytes) return tooLarge(maxBytes)
  const reserved = bytes > SMALL_BODY_BYTES ? bytes : 0
  if (reservedBytes + reserved > MAX_BODIES_BYTES) return busy('Too many large requests at once')
  reservedBytes += reserved
  try {
    const isShort = length !== null && bytes <= LONG_BODY_CHARACTERS
    const body = isShort ? request : new Response(await collected(request.body, maxBytes, isWanted))
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
async function collected(
  body: ReadableStream<Uint8Array> | null,
  maxBytes: number,
  isWanted: () => boolean,
): Promise<Blob> {
  let chunks: Uint8Array<ArrayBuffer>[] = []
  let bytes = 0
  for await (const chunk of body ? bodyChunks(body.getReader()) : []) {
    bytes += chunk.byteLength
    if (bytes > maxBytes) throw new TooLarge()
    if (isWanted()) chunks.push(chunk as Uint8Array<ArrayBuffer>)
    else chunks = []
  }
  return new Blob(chunks)
}

function tooLarge(maxBytes: number): Response {
  // The rest of the body is not read, so the connection cannot be reused.
  return failure(413, `The body is larger than ${maxBytes} bytes`, { connection: 'close' })
}
