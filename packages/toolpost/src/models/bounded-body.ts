import { MAX_BODY_BYTES, MAX_LINE_BYTES } from './limits.ts'
import { ModelError } from './model-error.ts'

/** How much of a failed request's answer is read. */
const MAX_ERROR_BYTES = 64 * 1024

/** The same answer, which fails if it, or a line of it, gets too long: libraries collect both without a limit. */
export function boundedBody(response: Response): Response {
  if (!response.body) return response
  const { status, statusText, headers } = response
  return new Response(response.body.pipeThrough(limit()), { status, statusText, headers })
}

/** A fetch whose answers are bounded. */
export function boundedFetch(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (url, init) => boundedBody(await fetch(url, init))
}

/** The beginning of an answer's text; never rejects. */
export async function beginningOf(response: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  try {
    for await (const bytes of response.body ?? []) {
      text += decoder.decode(bytes, { stream: true })
      if (text.length >= MAX_ERROR_BYTES) break
    }
  } catch {
    // What came before it broke off may say enough.
  }
  return text.slice(0, MAX_ERROR_BYTES)
}

function limit(): TransformStream<Uint8Array, Uint8Array> {
  let total = 0
  let line = 0
  return new TransformStream({
    transform(bytes, controller) {
      total += bytes.length
      const lineEnd = bytes.lastIndexOf(LINE_FEED)
      line = lineEnd < 0 ? line + bytes.length : bytes.length - lineEnd - 1
      if (total > MAX_BODY_BYTES) throw tooLong('Its answer', MAX_BODY_BYTES)
      if (line > MAX_LINE_BYTES) throw tooLong('A line of its answer', MAX_LINE_BYTES)
      controller.enqueue(bytes)
    },
  })
}

const LINE_FEED = 10

function tooLong(what: string, bytes: number): ModelError {
  return new ModelError(
    'truncated',
    `The model was stopped: ${what.toLowerCase()} is over ${bytes / 1024 ** 2} MB`,
  )
}
