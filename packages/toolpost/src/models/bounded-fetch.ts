import { MAX_BODY_BYTES, MAX_LINE_BYTES } from './limits.ts'
import { ModelError } from './model-error.ts'

const LINE_FEED = 10

/**
 * A fetch whose responses fail once they, or one of their lines, get too long: libraries buffer both without a limit.
 * Whole lines are passed on: a reader that gets a line in pieces rescans it with every piece. `check` may throw.
 */
export function boundedFetch(
  fetch: typeof globalThis.fetch,
  check: (lines: Uint8Array) => void = () => {},
): typeof globalThis.fetch {
  return async (url, init) => {
    const response = await fetch(url, init)
    if (!response.body) return response
    return new Response(response.body.pipeThrough(wholeLines(response.ok ? check : () => {})), response)
  }
}

function wholeLines(check: (lines: Uint8Array) => void): TransformStream<Uint8Array, Uint8Array> {
  let total = 0
  let line: Uint8Array[] = []
  let lineBytes = 0
  return new TransformStream({
    transform(bytes, controller) {
      const lineEnd = bytes.lastIndexOf(LINE_FEED) + 1
      total += bytes.length
      if (total > MAX_BODY_BYTES) throw tooLong('its answer', MAX_BODY_BYTES)
      if (lineEnd > 0) {
        const lines = Buffer.concat([...line, bytes.subarray(0, lineEnd)])
        check(lines)
        controller.enqueue(lines)
        line = []
        lineBytes = 0
      }
      line.push(bytes.subarray(lineEnd))
      lineBytes += bytes.length - lineEnd
      if (lineBytes > MAX_LINE_BYTES) throw tooLong('a line of its answer', MAX_LINE_BYTES)
    },
    flush(controller) {
      const rest = Buffer.concat(line)
      check(rest)
      controller.enqueue(rest)
    },
  })
}

function tooLong(what: string, bytes: number): ModelError {
  return new ModelError('truncated', `The model was stopped: ${what} is over ${bytes / 1024 ** 2} MB`)
}

/** The beginning of a response's text; never rejects. */
export async function beginningOf(response: Response, maxBytes: number): Promise<string> {
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
