import type { Context, Hono } from 'hono'
import { callerOf, metaOf } from '../caller.ts'
import type { GatewayContext } from '../gateway-context.ts'
import { failure, json, shuttingDown } from '../http/answers.ts'
import { readJson } from '../http/read-body.ts'
import { MAX_BODY_BYTES, MAX_TIMEOUT_MS } from '../limits.ts'
import { ToolTexts, toolInfo } from '../tool-info.ts'

export function addToolRoutes(app: Hono, context: GatewayContext): void {
  const { tools } = context.executor
  const texts = new ToolTexts(tool => toolInfo(tool, tools))
  app.get('/api/tools', () => json({ tools: tools.getTools().map(tool => texts.of(tool)) }))
  app.post('/api/tools/:name/call', c => callTool(c, context))
}

/** One call: arguments in, result out. The caller's going away cancels it. */
async function callTool(c: Context, { executor, calls }: GatewayContext): Promise<Response> {
  const request = c.req.raw
  const name = c.req.param('name') ?? ''
  const timeoutMs = timeoutOf(request)
  if (timeoutMs instanceof Response) return timeoutMs
  const body = await readJson(request, MAX_BODY_BYTES)
  if (body instanceof Response) return body
  if (calls.isDraining) return shuttingDown()
  const args = body.value === undefined ? {} : body.value
  const result = await calls.run(callerOf(request, c.env), signal =>
    executor.run({ name, args }, { signal, timeoutMs, origin: 'http', meta: metaOf(request) }),
  )
  return json(result, !result.success && result.code === 'unknown_tool' ? 404 : 200)
}

function timeoutOf({ headers }: Request): number | undefined | Response {
  const given = headers.get('x-timeout-ms')
  if (given === null) return undefined
  const timeoutMs = /^\d+(\.\d+)?$/.test(given) ? Number(given) : 0
  if (timeoutMs > 0 && timeoutMs <= MAX_TIMEOUT_MS) return timeoutMs
  return failure(400, `Invalid x-timeout-ms; expected milliseconds, at most ${MAX_TIMEOUT_MS}`)
}
