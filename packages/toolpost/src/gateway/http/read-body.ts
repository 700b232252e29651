import { failure } from './answers.ts'

/** The JSON of a request's body, `undefined` for an empty one; or the answer to a body that cannot be taken. */
export async function readJson(request: Request, maxBytes: number): Promise<{ value: unknown } | Response> {
  const text = await readText(request, maxBytes)
  if (text === undefined) return tooLarge(maxBytes)
  if (text.trim() === '') return { value: undefined }
  try {
    return { value: JSON.parse(text) }
  } catch (error) {
    return failure(400, `The body is not JSON: ${(error as Error).message}`)
  }
}

/** A request's body as it is, or the answer to one that is too large. */
export async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array | Response> {
  if (isTooLong(request, maxBytes)) return tooLarge(maxBytes)
  return (await readCounted(request.body, maxBytes)) ?? tooLarge(maxBytes)
}

function tooLarge(maxBytes: number): Response {
  // What is left of the body is not read: the connection cannot be used again.
  return failure(413, `The body is larger than ${maxBytes} bytes`, { connection: 'close' })
}

/** The body, or `undefined` if it is too large. A length that is given is one that HTTP holds the client to. */
async function readText(request: Request, maxBytes: number): Promise<string | undefined> {
  if (isTooLong(request, maxBytes)) return undefined
  if (request.headers.has('content-length')) return request.text()
  return (await readCounted(request.body, maxBytes))?.toString('utf8')
}

function isTooLong({ headers }: Request, maxBytes: number): boolean {
  return Number(headers.get('content-length') ?? 0) > maxBytes
}

async function readCounted(
  body: ReadableStream<Uint8Array> | null,
  maxBytes: number,
): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength
    if (bytes > maxBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
