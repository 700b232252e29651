import { setTimeout as delay } from 'node:timers/promises'
import type { ToolCall } from '../../call/tool-call.ts'
import type { ToolResult } from '../../call/tool-result.ts'
import type { DurableRunOptions } from '../../project/durable.ts'
import { acceptedAnswer, locationOf, refusedAnswer, resultAnswer } from '../call-answers.ts'
import { type DurableWish, runsOr } from '../durable-wish.ts'
import type { GatewayContext } from '../gateway-context.ts'
import { aborted } from '../http/aborted.ts'
import { busy } from '../http/answers.ts'

/**
 * A durable call: responds with its result, or with the run it became. It continues if the caller disconnects, who may
 * return with the same key.
 */
export async function durableResponse(
  { source }: GatewayContext,
  call: ToolCall,
  options: DurableRunOptions,
  { wish, signal }: { wish: DurableWish; signal: AbortSignal },
): Promise<Response> {
  const runs = runsOr(source, 400)
  if (runs instanceof Response) return runs
  const accepted = await runs.accept(call, { ...options, key: wish.key })
  if ('refused' in accepted) return refusedAnswer(accepted)
  const result = await firstOf(accepted.result, signal, wish.async?.waitMs)
  if (result) return resultAnswer(result)
  if (wish.async) return acceptedAnswer(runs, accepted, { 'preference-applied': 'respond-async' })
  const location = locationOf(accepted.id)
  return busy(`Toolpost is shutting down; the run continues: GET ${location}`)
}

/** The result, if it arrives before the signal aborts or the time is up. */
async function firstOf(
  result: Promise<ToolResult>,
  signal: AbortSignal,
  waitMs: number | undefined,
): Promise<ToolResult | undefined> {
  if (waitMs === 0) return undefined
  const over = new AbortController()
  const stop = () => over.abort()
  signal.addEventListener('abort', stop, { once: true })
  const waited =
    waitMs === undefined ? aborted(over.signal) : delay(waitMs, undefined, { signal: over.signal })
  try {
    return await Promise.race([result, signal.aborted ? undefined : waited.catch(() => undefined)])
  } finally {
    signal.removeEventListener('abort', stop)
    over.abort()
  }
}
