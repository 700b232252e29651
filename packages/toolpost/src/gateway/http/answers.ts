import { textOf } from '../../executor/model-text.ts'

/** What goes with every answer that is not a page. */
const API_HEADERS = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
} as const

const TEXT_HEADERS = { ...API_HEADERS, 'content-type': 'text/plain; version=0.0.4; charset=utf-8' } as const

/** For answers that go on: nothing between here and the client may hold them back. */
export const EVENT_STREAM_HEADERS = {
  ...API_HEADERS,
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
} as const

/** `value` as JSON. What JSON cannot say (BigInt, NaN, cycles) is said in words, as it is to a model. */
export function json(value: unknown, status = 200, headers?: Record<string, string>): Response {
  return new Response(textOf(value), {
    status,
    headers: headers ? { ...API_HEADERS, ...headers } : API_HEADERS,
  })
}

/** An error of the API itself, in one sentence. */
export function failure(status: number, error: string, headers?: Record<string, string>): Response {
  return json({ error }, status, headers)
}

export function plainText(text: string): Response {
  return new Response(text, { headers: TEXT_HEADERS })
}
