import { isRecord } from '../runtime/guards.ts'
import { MAX_INPUT_ROUNDS } from './limits.ts'
import type { LinkRequestOptions } from './server-link.ts'
import type { ServerRequests } from './server-requests.ts'

/** What is sent along when a request is made again. */
export interface InputAnswers {
  inputResponses: Record<string, unknown>
  requestState?: string
}

type Result = { inputRequests?: unknown; requestState?: unknown }

/** Servers of the newest protocol ask for more in place of a result, and are then asked again. */
export function needsInput(result: unknown): result is Result {
  return isRecord(result) && result.resultType === 'input_required'
}

/** Answers what the server asks and sends the request again, until there is a result. */
export async function inputRounds(
  result: unknown,
  send: (answers: InputAnswers) => Promise<unknown>,
  options: Answering,
): Promise<unknown> {
  let current = result
  for (let round = 0; needsInput(current); round++) {
    if (round === MAX_INPUT_ROUNDS)
      throw new Error(`The server asked for input more than ${MAX_INPUT_ROUNDS} times`)
    const { inputRequests, requestState } = current
    current = await send({
      inputResponses: await answersTo(inputRequests, options),
      ...(typeof requestState === 'string' && { requestState }),
    })
  }
  return current
}

type Answering = LinkRequestOptions & { requests: ServerRequests }

/** Answers what the server asks, each under the key that it was asked by. */
export async function answersTo(
  inputRequests: unknown,
  { requests, ...options }: Answering,
): Promise<Record<string, unknown>> {
  const asked = isRecord(inputRequests) ? Object.entries(inputRequests) : []
  const answer = async (request: unknown) => {
    const { method, params } = isRecord(request) ? request : {}
    return requests.answer(String(method), isRecord(params) ? params : {}, options)
  }
  return Object.fromEntries(
    await Promise.all(asked.map(async ([key, one]) => [key, await answer(one)] as const)),
  )
}
