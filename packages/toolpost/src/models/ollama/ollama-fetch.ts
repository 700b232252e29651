import { isRecord } from '../../runtime/guards.ts'
import { beginningOf, boundedFetch } from '../bounded-body.ts'
import { checkCalls } from '../joined-chunks.ts'

type Fetch = typeof globalThis.fetch

/**
 * A fetch that makes up for what ChatOllama leaves out: it ends with `signal`, before the first byte or mid-stream, and
 * turns a failed request or a garbled line into an error. (ChatOllama itself ignores its signal until the first byte,
 * and its client logs non-JSON responses to stdout.)
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

/** A failed request, with the server's own message. */
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

/** Passes on its input, which is whole lines, unchanged; fails on the first bad one. */
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

/** Every line must be JSON. LangChain takes seconds over thousands of calls in one line, so they are counted here. */
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
