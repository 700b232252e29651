import { MAX_BODY_BYTES, MAX_LINE_BYTES } from './limits.ts'
import { ModelError } from './model-error.ts'

/** How much of an error response is read. */
const MAX_ERROR_BYTES = 64 * 1024

/** A fetch whose responses fail once they, or one of their lines, get too long: libraries buffer both without a limit. */
export function boundedFetch(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (url, init) => {
    const response = await fetch(url, init)
    return response.body ? new Response(response.body.pipeThrough(wholeLines()), response) : response
  }
}

/** The beginning of a response's text; never rejects. */
export async function beginningOf(response: Response, maxBytes = MAX_ERROR_BYTES): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  try {
    for await (const bytes of response.body ?? []) {
      text += decoder.decode(bytes, { stream: true })
      if (text.length >= maxBytes) break
    }
  } catch {
    // What arrived before the connection broke may be enough.
  }
  return text.slice(0, maxBytes)
}

/** Passes on whole lines only: a reader that gets a line in pieces rescans it with every piece. */
function wholeLines(): TransformStream<Uint8Array, Uint8Array> {
  let total = 0
  let line: Uint8Array[] = []
  let lineBytes = 0
  return new TransformStream({
    transform(bytes, controller) {
      const lineEnd = bytes.lastIndexOf(LINE_FEED) + 1
      total += bytes.length
      if (total > MAX_BODY_BYTES) throw tooLong('its answer', MAX_BODY_BYTES)
      if (lineEnd > 0) {
        controller.enqueue(Buffer.concat([...line, bytes.subarray(0, lineEnd)]))
        line = []
        lineBytes = 0
      }
      line.push(bytes.subarray(lineEnd))
      lineBytes += bytes.length - lineEnd
      if (lineBytes > MAX_LINE_BYTES) throw tooLong('a line of its answer', MAX_LINE_BYTES)
    },
    flush: controller => controller.enqueue(Buffer.concat(line)),
  })
}

const LINE_FEED = 10

function tooLong(what: string, bytes: number): ModelError {
  return new ModelError('truncated', `The model was stopped: ${what} is over ${bytes / 1024 ** 2} MB`)
}
