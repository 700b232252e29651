import type { Context, Hono } from 'hono'
import type { ToolResult } from '../../call/tool-result.ts'
import { searchOf } from '../../tools/search/tool-search.ts'
import { callerOf, metaOf } from '../caller.ts'
import type { Client } from '../clients.ts'
import type { GatewayContext } from '../gateway-context.ts'
import { failure, json, shuttingDown } from '../http/answers.ts'
import { readJson } from '../http/read-body.ts'
import { MAX_BODY_BYTES, MAX_TIMEOUT_MS } from '../limits.ts'
import { ToolTexts, toolInfo } from '../tool-info.ts'
import { wantsQuestions } from './questions.ts'

/** How many tools a search gives. */
const MAX_FOUND = 50
/** How much is kept of what a caller calls its call. */
const MAX_CALL_ID = 100

export function addToolRoutes(app: Hono, context: GatewayContext): void {
  const { tools } = context.executor
  const texts = new ToolTexts(tool => toolInfo(tool, tools))
  app.get('/api/tools', async c => {
    const all = context.clients.of(c.req.raw).tools()
    const query = c.req.query('q')?.trim()
    const shown = query ? await searchOf(tools).search(query, { among: all, limit: MAX_FOUND }) : all
    return json({ tools: shown.map(tool => texts.of(tool)) })
  })
  app.post('/api/tools/:name/call', c => callTool(c, context))
}

/** One call: arguments in, result out. The caller's going away cancels it. */
async function callTool(
  c: Context,
  { executor, calls, clients, questions }: GatewayContext,
): Promise<Response> {
  const request = c.req.raw
  const name = c.req.param('name') ?? ''
  const refusal = clients.refuseCall(request, name)
  if (refusal) return refusal
  const timeoutMs = timeoutOf(request)
  if (timeoutMs instanceof Response) return timeoutMs
  const body = await readJson(request, MAX_BODY_BYTES)
  if (body instanceof Response) return body
  if (calls.isDraining) return shuttingDown()
  const args = body.value === undefined ? {} : body.value
  const options = {
    ...clients.of(request).runOptions(name),
    timeoutMs,
    origin: originOf(request, clients.of(request)),
    meta: metaOf(request),
  }
  const { caller } = options
  const ask = wantsQuestions(request) ? questions.askFor({ tool: name, caller }) : undefined
  const result = await calls.run(callerOf(request, c.env), signal =>
    executor.run(
      { id: request.headers.get('x-call-id')?.slice(0, MAX_CALL_ID), name, args },
      { ...options, ask, signal },
    ),
  )
  return answerOf(result)
}

/** The console says that it is one. Nobody gains by it: a rule about `http` is about the console too. */
function originOf({ headers }: Request, { isNamed }: Client): string {
  return !isNamed && headers.get('x-toolpost-client') === 'console' ? 'console' : 'http'
}

/** A tool that failed is an answer like any other, except for what HTTP has a word for. */
function answerOf(result: ToolResult): Response {
  if (result.success || result.code !== 'limited')
    return json(result, !result.success && result.code === 'unknown_tool' ? 404 : 200)
  const { retry_after_ms: ms } = result
  return json(result, 429, ms === undefined ? undefined : { 'retry-after': String(Math.ceil(ms / 1_000)) })
}

function timeoutOf({ headers }: Request): number | undefined | Response {
  const given = headers.get('x-timeout-ms')
  if (given === null) return undefined
  const timeoutMs = /^\d+(\.\d+)?$/.test(given) ? Number(given) : 0
  if (timeoutMs > 0 && timeoutMs <= MAX_TIMEOUT_MS) return timeoutMs
  return failure(400, `Invalid x-timeout-ms; expected milliseconds, at most ${MAX_TIMEOUT_MS}`)
}
