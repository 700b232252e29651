import { isRecord } from '../../runtime/guards.ts'
import { beginningOf, boundedFetch } from '../bounded-body.ts'
import { checkCalls } from '../joined-chunks.ts'

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

/** Passes the bytes, which are whole lines, on unchanged, and fails on what nobody should read on after. */
function checkedLines(): TransformStream<Uint8Array, Uint8Array> {
  return new TransformStream({
    transform(bytes, controller) {
      const lines = new TextDecoder().decode(bytes).split('\n')
      const rest = lines.pop() ?? ''
      for (const line of lines) checkLine(line)
      checkLine(rest, rest.startsWith('{') ? 'premature end of the stream' : undefined)
      controller.enqueue(bytes)
    },
  })
}

/** A line is JSON: what follows another could be anything. LangChain takes seconds for thousands of calls in one. */
function checkLine(line: string, problem = `a line of the stream is not JSON: ${line.slice(0, 80)}`): void {
  if (line.trim() === '') return
  const { message } = parse(line, problem)
  if (isRecord(message) && Array.isArray(message.tool_calls)) checkCalls(message.tool_calls.length)
}

function parse(line: string, problem: string): { message?: unknown } {
  try {
    return Object(JSON.parse(line))
  } catch {
    throw new Error(problem)
  }
}
