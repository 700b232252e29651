import { getExtension } from 'hono/utils/mime'
import { HANDLE_PREFIX, isText } from '../../interceptors/long-results.ts'
import { searchOf } from '../../tools/search/tool-search.ts'
import type { GatewayContext } from '../context.ts'
import * as http from '../http.ts'
import { MAX_TIMEOUT_MS } from '../limits.ts'
import { openApi, toolInfo } from '../tool-info.ts'
import { durableCall, durableWish, resultAnswer } from './runs.ts'

const { headerOf, json, refusal } = http

/** How many tools a search returns, and how many similar names if there are none. */
const MAX_FOUND = 50
const MAX_NEAREST = 5
/** The longest call id that is kept. */
const MAX_CALL_ID = 100

export function addToolRoutes(app: http.App, context: GatewayContext): void {
  const { tools } = context.source.executor
  app.get('/api/tools', async c => {
    const all = c.env.client.tools()
    const query = c.req.query('q')?.trim()
    const found = query ? await searchOf(tools).search(query, { among: all, limit: MAX_FOUND }) : all
    if (!query || found.length > 0) return json({ tools: found.map(tool => toolInfo(tool, tools)) })
    const nearest = await searchOf(tools).nearest(query, { among: all, limit: MAX_NEAREST })
    return json({ tools: [], nearest: nearest.map(({ name }) => name) })
  })
  app.get('/api/openapi.json', c => json(openApi(c.env.client.tools(), tools)))
  app.post('/api/tools/:name/call', c => callTool(c, c.req.param('name'), context))
  app.get('/api/results/:id', c => readResult(c, c.req.param('id'), context))
}

/** One call: arguments in, result out. Cancelled if the caller disconnects. */
async function callTool(c: http.RequestContext, name: string, context: GatewayContext): Promise<Response> {
  const { calls, questions, source } = context
  const { executor } = source
  const { client } = c.env
  const startedAt = executor.clock.now()
  const timeoutMs = timeoutOf(headerOf(c, 'x-timeout-ms'))
  const wish = durableWish(c)
  const args = (await http.readJson(c)) ?? {}
  if (calls.isDraining) throw http.shuttingDown()
  const caller = http.callerOf(c)
  await calls.waitForTool(source, name, { caller, timeoutMs })
  const options = {
    caller: client.caller,
    among: client.among(name),
    timeoutMs,
    startedAt,
    origin: originOf(c),
    repair: http.preferenceOf(c, 'repair') !== undefined,
    meta: http.metaOf(c),
    // Others do not watch for questions.
    ask: questions.askIn(c, name),
    signal: caller.signal,
  }
  // Without durable calls, `respond-async` is ignored: it is only a preference. A key is more than that.
  if (wish && (wish.key !== undefined || source.status().durable !== undefined))
    return calls.run(caller, () => durableCall(source, { name, args }, options, wish))
  const id = headerOf(c, 'x-call-id')?.slice(0, MAX_CALL_ID)
  return resultAnswer(await calls.run(caller, () => executor.run({ id, name, args }, options)))
}

/** The console and the command line identify themselves, with the owner's token. */
function originOf(c: http.RequestContext): string {
  const given = headerOf(c, 'x-toolpost-client') ?? ''
  return !c.env.client.isNamed && (given === 'console' || given === 'cli') ? given : 'http'
}

function timeoutOf(given: string | undefined): number | undefined {
  if (given === undefined) return undefined
  const timeoutMs = /^\d+(\.\d+)?$/.test(given) ? Number(given) : 0
  if (timeoutMs > 0 && timeoutMs <= MAX_TIMEOUT_MS) return timeoutMs
  throw refusal(400, `Invalid x-timeout-ms; expected milliseconds, at most ${MAX_TIMEOUT_MS}`)
}

/** Types a page may show; anything else, such as HTML from a tool, is only bytes. */
const PLAIN = /^(?:text\/plain|application\/json|image\/(?:png|jpeg|gif|webp)|audio\/[\w.+-]+)$/

/** A kept result in full, for the caller of the tool and the owner of the gateway. */
async function readResult(c: http.RequestContext, id: string, { source }: GatewayContext): Promise<Response> {
  const results = source.bigResults
  if (!results) throw refusal(404, 'Result storage is disabled')
  const handle = `${HANDLE_PREFIX}${id}`
  const { client } = c.env
  const found = results.read(handle, owner => !client.isNamed || owner.caller === client.caller)
  if ('problem' in found) throw refusal(found.gone ? 410 : 404, `${found.problem}.`)
  const type = PLAIN.test(found.mimeType) ? found.mimeType : 'application/octet-stream'
  return http.content(found.content as Uint8Array<ArrayBuffer>, {
    // Nothing in it may run, whatever type it claims to be.
    'content-security-policy': "default-src 'none'; sandbox",
    'content-type': isText(type) ? `${type}; charset=utf-8` : type,
    'content-disposition': `attachment; filename="result-${id}.${getExtension(type) ?? 'bin'}"`,
  })
}
