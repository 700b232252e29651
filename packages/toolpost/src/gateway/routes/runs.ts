import { setTimeout as delay } from 'node:timers/promises'
import type { ToolCall } from '../../call/tool-call.ts'
import type { ToolResult } from '../../call/tool-result.ts'
import type { DurableRuns } from '../../project/durable/durable-runs.ts'
import * as durable from '../../project/durable.ts'
import { unlessAborted } from '../../util/clock.ts'
import { shortRun } from '../call-log.ts'
import type { GatewayContext, GatewaySource } from '../context.ts'
import * as http from '../http.ts'
import { DEFAULT_RUNS, MAX_ASYNC_WAIT_MS, MAX_KEY_LENGTH, MAX_RUNS } from '../limits.ts'

const { busy, failure, json } = http

/** Durable runs: list, inspect, cancel and run again. */
export function addRunRoutes(app: http.App, { calls, source }: GatewayContext): void {
  /** An unreachable database is not the caller's fault. */
  const withRuns = async (answer: (runs: DurableRuns) => Promise<Response>) => {
    const runs = runsOr(source, 404)
    if (runs instanceof Response) return runs
    return answer(runs).catch((error: Error) => busy(`Cannot read the runs: ${error.message}`))
  }
  const noRun = (id: string) => failure(404, `There is no run '${id.slice(0, 100)}', or it is no longer kept`)
  type Answer = (runs: DurableRuns, run: durable.Run) => Response | Promise<Response>
  const withRun = (c: http.RequestContext, answer: Answer) =>
    withRuns(async runs => {
      const id = c.req.param('id') ?? ''
      const run = await runs.durable.get(id)
      return run && c.env.client.sees(run) ? answer(runs, run) : noRun(id)
    })
  app.get('/api/runs', c =>
    withRuns(async runs => {
      const filter = filterIn(c.req.query())
      if (typeof filter === 'string') return failure(400, filter)
      const { isNamed, name: caller } = c.env.client
      const found = await runs.durable.list(isNamed ? { ...filter, caller } : filter)
      return json({ runs: found.map(shortRun) })
    }),
  )
  app.get('/api/runs/:id', c => withRun(c, (_, run) => json(run)))
  app.delete('/api/runs/:id', c =>
    withRun(c, async (runs, { id, state }) => {
      if (await runs.durable.cancel(id)) return http.noContent()
      return failure(409, `The run has ended: ${(await runs.durable.get(id))?.state ?? state}`)
    }),
  )
  app.post('/api/runs/:id/again', c =>
    withRun(c, async (runs, run) => {
      if (calls.isDraining) return http.shuttingDown()
      const { client } = c.env
      const about = { caller: client.caller, among: client.among(runs.nameOf(run)), origin: 'http' }
      const again = await runs.again(run.id, { ...about, meta: http.metaOf(c) })
      if (!again) return noRun(run.id)
      return 'refused' in again ? refusedAnswer(again) : acceptedAnswer(runs, again)
    }),
  )
}

const FILTERS = ['state', 'tool', 'before', 'limit']

/** The filter in a query, or what is wrong with it. */
function filterIn(query: Record<string, string>): durable.RunFilter | string {
  const unknown = Object.keys(query).find(name => !FILTERS.includes(name))
  if (unknown !== undefined) return `Unknown parameter '${unknown}'; expected one of ${FILTERS.join(', ')}`
  const { state: given, tool, before, limit = String(DEFAULT_RUNS) } = query
  const state = durable.RUN_STATES.find(each => each === given)
  if (given && !state) return `Invalid state '${given}'; expected one of ${durable.RUN_STATES.join(', ')}`
  if (!/^\d{1,4}$/.test(limit) || Number(limit) < 1 || Number(limit) > MAX_RUNS)
    return `Invalid limit '${limit}'; expected a number from 1 to ${MAX_RUNS}`
  return { state, tool: tool || undefined, before: before || undefined, limit: Number(limit) }
}

/** How a caller wants its call to be durable: with a key; answered with the run after a wait, unless it has ended. */
export interface DurableWish {
  key?: string | undefined
  waitMs?: number | undefined
}

/** What a request asks for, if anything. */
export function durableWish(c: http.RequestContext): DurableWish | undefined {
  const given = http.headerOf(c, 'idempotency-key')
  const isAsync = http.preferenceOf(c, 'respond-async') !== undefined
  if (given === undefined && !isAsync) return undefined
  const waitMs = Number(http.preferenceOf(c, 'wait') || 0) * 1_000 || 0
  // As a structured field, it is quoted.
  const key = given?.replace(/^"(.*)"$/, '$1')
  if (key === undefined || (key.length <= MAX_KEY_LENGTH && /^[!-~](?:[ -~]*[!-~])?$/.test(key)))
    return { key, waitMs }
  return failure(400, `Invalid Idempotency-Key; expected 1 to ${MAX_KEY_LENGTH} printable ASCII characters`)
}

/** The durable runs, or the response if they are unavailable or off. */
function runsOr(source: GatewaySource, offStatus: 400 | 404): DurableRuns | Response {
  const runs = source.durable?.()
  if (runs) return runs
  const status = source.status().durable
  if (status) return busy(`Durable calls are unavailable: ${status.text}`)
  return failure(offStatus, 'Durable calls are off: set "durable" in toolpost.json')
}

/**
 * A durable call: responds with its result, or with the run it became. It continues if the caller disconnects, who may
 * return with the same key.
 */
export async function durableCall(
  source: GatewaySource,
  call: ToolCall,
  { signal, ...options }: durable.DurableRunOptions & { signal: AbortSignal },
  { key, waitMs }: DurableWish,
): Promise<Response> {
  const runs = runsOr(source, 400)
  if (runs instanceof Response) return runs
  const accepted = await runs.accept(call, { ...options, key })
  if ('refused' in accepted) return refusedAnswer(accepted)
  if (waitMs === 0) return acceptedAnswer(runs, accepted, { 'preference-applied': 'respond-async' })
  const waits = waitMs === undefined ? [] : [delay(waitMs, undefined, { ref: false })]
  const result = await unlessAborted(Promise.race([accepted.result, ...waits]), signal).catch(() => {})
  if (result) return resultAnswer(result)
  if (waitMs !== undefined) return acceptedAnswer(runs, accepted, { 'preference-applied': 'respond-async' })
  return busy(`Toolpost is shutting down; the run continues: GET ${locationOf(accepted.id)}`)
}

/** A failed tool is a normal response, except where HTTP has a status for it. */
export function resultAnswer(result: ToolResult): Response {
  if (result.success || result.code !== 'limited')
    return json(result, !result.success && result.code === 'unknown_tool' ? 404 : 200)
  const { retry_after_ms: ms } = result
  return json(result, 429, ms === undefined ? undefined : { 'retry-after': String(Math.ceil(ms / 1_000)) })
}

/** A key already used for another call is the caller's mistake; an unreachable database is not. */
function refusedAnswer({ refused, isConflict }: durable.RefusedRun): Response {
  if (isConflict) return json(refused, 422)
  const isGone = !refused.success && refused.code === 'unavailable'
  return isGone ? json(refused, 503, { 'retry-after': '5' }) : resultAnswer(refused)
}

/** The run, with its address in `Location`. */
async function acceptedAnswer(
  runs: DurableRuns,
  { id }: durable.AcceptedRun,
  headers: Record<string, string> = {},
): Promise<Response> {
  const run = await runs.durable.get(id).catch(() => undefined)
  return json(run ?? { id }, 202, { location: locationOf(id), ...headers })
}

function locationOf(id: string): string {
  return `/api/runs/${encodeURIComponent(id)}`
}
