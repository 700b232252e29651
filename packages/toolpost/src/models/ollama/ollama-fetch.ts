import { beginningOf, boundedFetch } from '../bounded-body.ts'

type Fetch = typeof globalThis.fetch

/**
 * A fetch for ChatOllama that does what it leaves undone: it ends with `signal`, before the first byte and in the
 * middle of the stream, and it turns a failed request or a garbled line into an error. (ChatOllama itself ignores
 * its signal until the first byte, and its client writes to stdout about answers that are not JSON.)
 */
export function ollamaFetch(signal: AbortSignal, request: Fetch): Fetch {
  const bounded = boundedFetch(request)
  return async (url, init) => {
    const signals = init?.signal ? [signal, init.signal] : [signal]
    const response = await bounded(url, { ...init, signal: AbortSignal.any(signals) })
    if (!response.ok) throw await httpError(response)
    return response.body ? new Response(response.body.pipeThrough(checkedLines()), response) : response
  }
}

/** A failed request, in the server's words. */
async function httpError(response: Response): Promise<Error> {
  const { status, headers } = response
  const message = messageIn(await beginningOf(response)) || `HTTP ${status}`
  return Object.assign(new Error(message), { name: 'HttpError', status, headers })
}

function messageIn(body: string): string {
  try {
    return String((JSON.parse(body) as { error?: unknown }).error ?? body)
  } catch {
    return body.trim()
  }
}

/** Passes the bytes on unchanged, and fails on a line that is not JSON: what follows it could be anything. */
function checkedLines(): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder()
  let rest = ''
  return new TransformStream({
    transform(bytes, controller) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) checkLine(line)
      controller.enqueue(bytes)
    },
    flush() {
      if (rest.startsWith('{') && !isJson(rest)) throw new Error('premature end of the stream')
      checkLine(rest)
    },
  })
}

function checkLine(line: string): void {
  if (line.trim() === '' || isJson(line)) return
  throw new Error(`a line of the stream is not JSON: ${line.slice(0, 80)}`)
}

function isJson(line: string): boolean {
  try {
    JSON.parse(line)
    return true
  } catch {
    return false
  }
}
