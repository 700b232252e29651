import { isRecord } from '../runtime/guards.ts'
import { needsInput } from './call-result.ts'
import { MAX_INPUT_ROUNDS, MAX_SERVER_REQUESTS } from './limits.ts'
import type { LinkRequestOptions } from './server-link.ts'
import type { ServerRequests } from './server-requests.ts'

/** Sent along when a request is repeated. */
export interface InputAnswers {
  inputResponses: Record<string, unknown>
  requestState?: string
}

type Rounds = LinkRequestOptions & {
  requests: ServerRequests
  /** Whether the caller gave up: nothing more is sent then. */
  isOver?(): boolean
}

/** Answers the server's questions and repeats the request until there is a result. */
export async function inputRounds(
  result: unknown,
  send: (answers: InputAnswers) => Promise<unknown>,
  { isOver, ...options }: Rounds,
): Promise<unknown> {
  let current = result
  for (let round = 0; needsInput(current); round++) {
    if (round === MAX_INPUT_ROUNDS)
      throw new Error(`The server asked for input more than ${MAX_INPUT_ROUNDS} times`)
    const { inputRequests, requestState } = current
    const inputResponses = await answersTo(inputRequests, options)
    if (isOver?.() || options.signal?.aborted) throw new Error('The caller gave up')
    current = await send({ inputResponses, ...(typeof requestState === 'string' && { requestState }) })
  }
  return current
}

/** Answers all questions in parallel, each under its key; one that cannot be answered aborts the others. */
export async function answersTo(
  inputRequests: unknown,
  { requests, from, signal }: Omit<Rounds, 'isOver'>,
): Promise<Record<string, unknown>> {
  const entries = isRecord(inputRequests) ? Object.entries(inputRequests) : []
  if (entries.length > MAX_SERVER_REQUESTS)
    throw new Error(`The server asked for more than ${MAX_SERVER_REQUESTS} inputs at once`)
  const open = new AbortController()
  const either = signal ? AbortSignal.any([signal, open.signal]) : open.signal
  const answer = async ([key, request]: [string, unknown]) => {
    const { method, params } = isRecord(request) ? request : {}
    const text = typeof method === 'string' ? method : ''
    return [key, await requests.answer(text, isRecord(params) ? params : {}, { from, signal: either, key })]
  }
  try {
    return Object.fromEntries(await Promise.all(entries.map(answer)))
  } catch (error) {
    open.abort()
    throw error
  }
}
