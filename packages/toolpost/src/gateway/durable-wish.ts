import type { DurableRuns } from '../project/durable/durable-runs.ts'
import type { GatewaySource } from './gateway-context.ts'
import { busy, failure } from './http/answers.ts'
import { preferencesOf } from './http/preferences.ts'
import { MAX_ASYNC_WAIT_MS, MAX_KEY_LENGTH } from './limits.ts'

/** How a caller wants its call to be durable. */
export interface DurableWish {
  key?: string | undefined
  /** Respond with the run once it is accepted, or after this wait. */
  async?: { waitMs: number } | undefined
}

/** The idempotency key of an MCP call, in its `_meta`. */
export const KEY_META = 'toolpost/idempotencyKey'

const OFF = 'durable calls are off: set "durable" in toolpost.json'

/** What a request asks for, if anything; or the response to an invalid key. */
export function durableWish(request: Request): DurableWish | undefined | Response {
  // As a structured field, it is quoted.
  const key = request.headers.get('idempotency-key')?.replace(/^"(.*)"$/, '$1')
  const preferences = preferencesOf(request)
  const isAsync = preferences.has('respond-async')
  if (key === undefined) return isAsync ? { async: waitIn(preferences) } : undefined
  const problem = keyProblem(key)
  if (problem) return failure(400, `Invalid Idempotency-Key; ${problem}`)
  return { key, async: isAsync ? waitIn(preferences) : undefined }
}

/** `wait` is in seconds. */
function waitIn(preferences: ReadonlyMap<string, string>): { waitMs: number } {
  const seconds = Number(preferences.get('wait') || 0)
  return { waitMs: Math.min(Math.max(seconds * 1_000 || 0, 0), MAX_ASYNC_WAIT_MS) }
}

/** What is wrong with an idempotency key. */
export function keyProblem(key: unknown): string | undefined {
  const isFine =
    typeof key === 'string' && key.length <= MAX_KEY_LENGTH && /^[!-~](?:[ -~]*[!-~])?$/.test(key)
  return isFine ? undefined : `expected 1 to ${MAX_KEY_LENGTH} printable ASCII characters`
}

export type DurableSource = Pick<GatewaySource, 'durable' | 'status'>

/** Why durable calls are unavailable. */
export function offText(source: DurableSource): string {
  return source.status().durable?.text ?? OFF
}

/** The durable runs, or the response if they are unavailable or off. */
export function runsOr(source: DurableSource, offStatus: 400 | 404): DurableRuns | Response {
  const runs = source.durable?.()
  if (runs) return runs
  const status = source.status().durable
  if (status) return busy(`Durable calls are unavailable: ${status.text}`)
  return failure(offStatus, OFF.charAt(0).toUpperCase() + OFF.slice(1))
}
