import type { Context, Hono } from 'hono'
import { searchOf } from '../../tools/search/tool-search.ts'
import { resultAnswer } from '../call-answers.ts'
import { callerOf, metaOf } from '../caller.ts'
import type { Client } from '../client.ts'
import { durableWish } from '../durable-wish.ts'
import type { GatewayContext } from '../gateway-context.ts'
import { failure, json, shuttingDown } from '../http/answers.ts'
import { inTime } from '../http/in-time.ts'
import { preferencesOf } from '../http/preferences.ts'
import { readJson } from '../http/read-body.ts'
import { MAX_BODY_BYTES, MAX_TIMEOUT_MS } from '../limits.ts'
import { ToolTexts, toolInfo } from '../tool-info.ts'
import { durableResponse } from './durable-call.ts'
import { wantsQuestions } from './questions.ts'

/** How many tools a search returns. */
const MAX_FOUND = 50
/** How many similar names it returns if there are none. */
const MAX_NEAREST = 5
/** The longest call id that is kept. */
const MAX_CALL_ID = 100

export function addToolRoutes(app: Hono, context: GatewayContext): void {
  const { tools } = context.executor
  const texts = new ToolTexts(tool => toolInfo(tool, tools))
  app.get('/api/tools', async c => {
    const all = context.clients.of(c.req.raw).tools()
    const query = c.req.query('q')?.trim()
    if (!query) return json({ tools: all.map(tool => texts.of(tool)) })
    const found = await searchOf(tools).search(query, { among: all, limit: MAX_FOUND })
    if (found.length > 0) return json({ tools: found.map(tool => texts.of(tool)) })
    const nearest = await searchOf(tools).nearest(query, { among: all, limit: MAX_NEAREST })
    return json({ tools: [], nearest: nearest.map(({ name }) => name) })
  })
  app.post('/api/tools/:name/call', c => callTool(c, context))
}

/** One call: arguments in, result out. Cancelled if the caller disconnects. */
async function callTool(c: Context, context: GatewayContext): Promise<Response> {
  const { executor, calls, clients, questions } = context
  const { clock } = executor
  const startedAt = clock.now()
  const request = c.req.raw
  const name = c.req.param('name') ?? ''
  const refusal = clients.refuseCall(request, name)
  if (refusal) return refusal
  const timeoutMs = timeoutOf(request)
  if (timeoutMs instanceof Response) return timeoutMs
  const wish = durableWish(request)
  if (wish instanceof Response) return wish
  const limitMs = executor.timeoutMsOf(name, { timeoutMs })
  const body = await inTime(limitMs, isWanted => readJson(request, MAX_BODY_BYTES, { isWanted }))
  if (body instanceof Response) return body
  if (calls.isDraining) return shuttingDown()
  const args = body?.value === undefined ? {} : body.value
  const options = {
    ...clients.of(request).runOptions(name),
    timeoutMs,
    origin: originOf(request, clients.of(request)),
    repair: preferencesOf(request).has('repair'),
    meta: metaOf(request),
  }
  const { caller } = options
  const ask = wantsQuestions(request) ? questions.askFor({ tool: name, caller }) : undefined
  if (body && wish && (wish.key !== undefined || isOn(context)))
    return calls.run(callerOf(request, c.env), signal =>
      durableResponse(context, { name, args }, { ...options, ask }, { wish, signal }),
    )
  const result = await calls.run(callerOf(request, c.env), signal =>
    executor.run(
      { id: request.headers.get('x-call-id')?.slice(0, MAX_CALL_ID), name, args },
      // If the body was late, the executor reports a timeout. Timers may fire a little early.
      { ...options, ask, signal, startedAt: body ? startedAt : Math.min(startedAt, clock.now() - limitMs) },
    ),
  )
  return resultAnswer(result)
}

/** Without durable calls, `respond-async` is ignored: it is only a preference. A key is more than that. */
function isOn({ source }: GatewayContext): boolean {
  return source.status().durable !== undefined
}

/** The console and the command line identify themselves, with the owner's token. */
function originOf({ headers }: Request, { isNamed }: Client): string {
  const given = headers.get('x-toolpost-client') ?? ''
  return !isNamed && ['console', 'cli'].includes(given) ? given : 'http'
}

function timeoutOf({ headers }: Request): number | undefined | Response {
  const given = headers.get('x-timeout-ms')
  if (given === null) return undefined
  const timeoutMs = /^\d+(\.\d+)?$/.test(given) ? Number(given) : 0
  if (timeoutMs > 0 && timeoutMs <= MAX_TIMEOUT_MS) return timeoutMs
  return failure(400, `Invalid x-timeout-ms; expected milliseconds, at most ${MAX_TIMEOUT_MS}`)
}
