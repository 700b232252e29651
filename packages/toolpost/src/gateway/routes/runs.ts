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

const { busy, json, refusal } = http

/** Durable runs: list, inspect, cancel and run again. */
export function addRunRoutes(app: http.App, { calls, source }: GatewayContext): void {
  /** An unreachable database is not the caller's fault. */
  const unreachable = (error: Error) => {
    throw refusal(503, `Cannot read the runs: ${error.message}`, { 'retry-after': '5' })
  }
  const find = async (c: http.RequestContext) => {
    const runs = runsOf(source, 404)
    const id = c.req.param('id') ?? ''
    const run = await runs.durable.get(id).catch(unreachable)
    if (run && c.env.client.sees(run)) return { runs, run }
    throw refusal(404, `There is no run '${id.slice(0, 100)}', or it is no longer kept`)
  }
  app.get('/api/runs', async c => {
    const runs = runsOf(source, 404)
    const { isNamed, name: caller } = c.env.client
    const filter = { ...filterIn(c.req.query()), ...(isNamed && { caller }) }
    return json({ runs: (await runs.durable.list(filter).catch(unreachable)).map(shortRun) })
  })
  app.get('/api/runs/:id', async c => json((await find(c)).run))
  app.delete('/api/runs/:id', async c => {
    const { runs, run } = await find(c)
    if (await runs.durable.cancel(run.id).catch(unreachable)) return c.body(null, 204)
    throw refusal(409, `The run has ended: ${(await find(c)).run.state}`)
  })
  app.post('/api/runs/:id/again', async c => {
    const { runs, run } = await find(c)
    if (calls.isDraining) throw http.shuttingDown()
    const { client } = c.env
    const about = { caller: client.caller, among: client.among(runs.nameOf(run)), origin: 'http' }
    const again = await runs.again(run.id, { ...about, meta: http.metaOf(c) }).catch(unreachable)
    if (!again) throw refusal(404, `There is no run '${run.id}', or it is no longer kept`)
    return 'refused' in again ? refusedAnswer(again) : acceptedAnswer(runs, again)
  })
}

const FILTERS = ['state', 'tool', 'before', 'limit']

function filterIn(query: Record<string, string>): durable.RunFilter {
  const unknown = Object.keys(query).find(name => !FILTERS.includes(name))
  const { state: given, tool, before, limit = String(DEFAULT_RUNS) } = query
  const state = durable.RUN_STATES.find(each => each === given)
  const problem =
    (unknown !== undefined && `Unknown parameter '${unknown}'; expected one of ${FILTERS.join(', ')}`) ||
    (given && !state && `Invalid state '${given}'; expected one of ${durable.RUN_STATES.join(', ')}`) ||
    (!(Number(limit) >= 1 && Number(limit) <= MAX_RUNS) &&
      `Invalid limit '${limit}'; expected a number from 1 to ${MAX_RUNS}`)
  if (problem) throw refusal(400, problem)
  return { state, tool: tool || undefined, before: before || undefined, limit: Math.floor(Number(limit)) }
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
  if (key !== undefined && (key.length > MAX_KEY_LENGTH || !/^[!-~](?:[ -~]*[!-~])?$/.test(key)))
    throw refusal(400, `Invalid Idempotency-Key; expected 1 to ${MAX_KEY_LENGTH} printable ASCII characters`)
  return { key, waitMs: isAsync ? Math.min(Math.max(waitMs, 0), MAX_ASYNC_WAIT_MS) : undefined }
}

/** The durable runs; refused if they are unavailable or off. */
function runsOf(source: GatewaySource, offStatus: 400 | 404): DurableRuns {
  const runs = source.durable?.()
  if (runs) return runs
  const status = source.status().durable
  if (status) throw refusal(503, `Durable calls are unavailable: ${status.text}`, { 'retry-after': '5' })
  throw refusal(offStatus, 'Durable calls are off: set "durable" in toolpost.json')
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
  const runs = runsOf(source, 400)
  const accepted = await runs.accept(call, { ...options, key })
  if ('refused' in accepted) return refusedAnswer(accepted)
  const isAsync = { 'preference-applied': 'respond-async' }
  if (waitMs === 0) return acceptedAnswer(runs, accepted, isAsync)
  const waits = waitMs === undefined ? [] : [delay(waitMs, undefined, { ref: false })]
  const result = await unlessAborted(Promise.race([accepted.result, ...waits]), signal).catch(() => {})
  if (result) return resultAnswer(result)
  if (waitMs !== undefined) return acceptedAnswer(runs, accepted, isAsync)
  throw busy(`Toolpost is shutting down; the run continues: GET ${locationOf(accepted.id)}`)
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
