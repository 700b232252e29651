import type { ToolResult } from '../call/tool-result.ts'
import type { DurableRuns } from '../project/durable/durable-runs.ts'
import type { AcceptedRun, RefusedRun } from '../project/durable.ts'
import { json } from './http/answers.ts'

/** A failed tool is a normal response, except where HTTP has a status for it. */
export function resultAnswer(result: ToolResult): Response {
  if (result.success || result.code !== 'limited')
    return json(result, !result.success && result.code === 'unknown_tool' ? 404 : 200)
  const { retry_after_ms: ms } = result
  return json(result, 429, ms === undefined ? undefined : { 'retry-after': String(Math.ceil(ms / 1_000)) })
}

/** A key already used for another call is the caller's mistake; an unreachable database is not. */
export function refusedAnswer({ refused, isConflict }: RefusedRun): Response {
  if (isConflict) return json(refused, 422)
  const isGone = !refused.success && refused.code === 'unavailable'
  return isGone ? json(refused, 503, { 'retry-after': '5' }) : resultAnswer(refused)
}

/** The run, with its address in `Location`. */
export async function acceptedAnswer(
  { durable }: DurableRuns,
  { id }: AcceptedRun,
  headers: Record<string, string> = {},
): Promise<Response> {
  const run = await durable.get(id).catch(() => undefined)
  return json(run ?? { id }, 202, { location: locationOf(id), ...headers })
}

export function locationOf(id: string): string {
  return `/api/runs/${encodeURIComponent(id)}`
}
