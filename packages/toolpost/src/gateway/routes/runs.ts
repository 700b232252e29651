import type { Hono } from 'hono'
import type { DurableRuns } from '../../project/durable/durable-runs.ts'
import { RUN_STATES, type Run, type RunFilter, type RunState } from '../../project/durable.ts'
import { acceptedAnswer, refusedAnswer } from '../call-answers.ts'
import { metaOf } from '../caller.ts'
import type { Client } from '../client.ts'
import { sees } from '../client-view.ts'
import { runsOr } from '../durable-wish.ts'
import type { GatewayContext } from '../gateway-context.ts'
import { busy, failure, json } from '../http/answers.ts'
import { DEFAULT_RUNS, MAX_RUNS } from '../limits.ts'
import { shortRun } from '../run-view.ts'

/** Durable runs: list, inspect, cancel and run again. */
export function addRunRoutes(app: Hono, context: GatewayContext): void {
  const { clients } = context
  app.get('/api/runs', c =>
    within(context, c.req.raw, async (runs, client) => {
      const filter = filterIn(c.req.query())
      if (typeof filter === 'string') return failure(400, filter)
      const own = client.isNamed ? { ...filter, caller: client.name } : filter
      const found = await runs.durable.list(own)
      return json({ runs: found.map(run => shortRun(run).run) })
    }),
  )
  app.get('/api/runs/:id', c => withRun(context, c.req.raw, c.req.param('id'), async (_, run) => json(run)))
  app.delete('/api/runs/:id', c =>
    withRun(context, c.req.raw, c.req.param('id'), async (runs, { id, state }) =>
      (await runs.durable.cancel(id))
        ? new Response(null, { status: 204 })
        : failure(409, `The run has ended: ${(await runs.durable.get(id))?.state ?? state}`),
    ),
  )
  app.post('/api/runs/:id/again', c =>
    withRun(context, c.req.raw, c.req.param('id'), async (runs, run) => {
      if (context.calls.isDraining) return busy('Toolpost is shutting down')
      const name = runs.nameOf(run)
      const refusal = clients.refuseCall(c.req.raw, name)
      if (refusal) return refusal
      const options = { ...clients.of(c.req.raw).runOptions(name), origin: 'http', meta: metaOf(c.req.raw) }
      const again = await runs.again(run.id, options)
      if (!again) return noRun(run.id)
      return 'refused' in again ? refusedAnswer(again) : acceptedAnswer(runs, again)
    }),
  )
}

type WithRuns = (runs: DurableRuns, client: Client) => Promise<Response>

/** An unreachable database is not the caller's fault. */
async function within(
  { source, clients }: GatewayContext,
  request: Request,
  answer: WithRuns,
): Promise<Response> {
  const runs = runsOr(source, 404)
  if (runs instanceof Response) return runs
  try {
    return await answer(runs, clients.of(request))
  } catch (error) {
    return busy(`Cannot read the runs: ${(error as Error).message}`)
  }
}

function withRun(
  context: GatewayContext,
  request: Request,
  id: string,
  answer: (runs: DurableRuns, run: Run) => Promise<Response>,
): Promise<Response> {
  return within(context, request, async (runs, client) => {
    const run = await runs.durable.get(id)
    return run && sees(client, run) ? answer(runs, run) : noRun(id)
  })
}

function noRun(id: string): Response {
  return failure(404, `There is no run '${id.slice(0, 100)}', or it is no longer kept`)
}

const FILTERS = ['state', 'tool', 'before', 'limit']

/** The filter in a query, or what is wrong with it. */
function filterIn(query: Record<string, string>): RunFilter | string {
  const unknown = Object.keys(query).find(name => !FILTERS.includes(name))
  if (unknown !== undefined) return `Unknown parameter '${unknown}'; expected one of ${FILTERS.join(', ')}`
  const { state, tool, before, limit = String(DEFAULT_RUNS) } = query
  if (state && !RUN_STATES.includes(state as RunState))
    return `Invalid state '${state}'; expected one of ${RUN_STATES.join(', ')}`
  if (!/^\d{1,4}$/.test(limit) || Number(limit) < 1 || Number(limit) > MAX_RUNS)
    return `Invalid limit '${limit}'; expected a number from 1 to ${MAX_RUNS}`
  return {
    state: (state || undefined) as RunState | undefined,
    tool: tool || undefined,
    before: before || undefined,
    limit: Number(limit),
  }
}
