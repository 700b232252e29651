import { MAX_BODY_BYTES } from './limits.ts'
import { ModelError } from './model-error.ts'

const LINE_FEED = 10

/**
 * A fetch whose responses fail once they get too long: libraries buffer them without a limit. They arrive in whole lines,
 * which `check` sees first, and may refuse by throwing.
 */
export function boundedFetch(
  fetch: typeof globalThis.fetch,
  check: (lines: Buffer) => void = () => {},
): typeof globalThis.fetch {
  return async (url, init) => {
    const response = await fetch(url, init)
    let total = 0
    let rest = Buffer.alloc(0)
    const pass = (lines: Buffer, controller: TransformStreamDefaultController<Uint8Array>) => {
      if (response.ok) check(lines)
      controller.enqueue(lines)
    }
    const lines = new TransformStream<Uint8Array, Uint8Array>({
      transform(bytes, controller) {
        total += bytes.length
        if (total > MAX_BODY_BYTES)
          throw new ModelError(
            'truncated',
            `The model was stopped: its answer is over ${MAX_BODY_BYTES} bytes`,
          )
        const all = Buffer.concat([rest, bytes])
        const end = all.lastIndexOf(LINE_FEED) + 1
        rest = all.subarray(end)
        if (end > 0) pass(all.subarray(0, end), controller)
      },
      flush: controller => pass(rest, controller),
    })
    return response.body ? new Response(response.body.pipeThrough(lines), response) : response
  }
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
