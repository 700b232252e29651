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

function tooLarge(maxBytes: number): Response {
  // What is left of the body is not read: the connection cannot be used again.
  return failure(413, `The body is larger than ${maxBytes} bytes`, { connection: 'close' })
}

/** The body, or `undefined` if it is too large. A length that is given is one that HTTP holds the client to. */
async function readText(request: Request, maxBytes: number): Promise<string | undefined> {
  const length = request.headers.get('content-length')
  if (length !== null) return Number(length) <= maxBytes ? request.text() : undefined
  return readCounted(request.body, maxBytes)
}

async function readCounted(
  body: ReadableStream<Uint8Array> | null,
  maxBytes: number,
): Promise<string | undefined> {
  if (!body) return ''
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.byteLength
    if (bytes > maxBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
