import type { Hono } from 'hono'
import { McpCallError } from '../../mcp/call-result.ts'
import type { Access } from '../../mcp/catalog.ts'
import { describeError } from '../../mcp/server-failure.ts'
import { isRecord } from '../../runtime/guards.ts'
import { ToolFailureError } from '../../tools/tool-failure-error.ts'
import type { Client } from '../client.ts'
import type { GatewayContext } from '../gateway-context.ts'
import { failure, json } from '../http/answers.ts'
import { readJson } from '../http/read-body.ts'
import { MAX_ANSWER_BYTES, MAX_OFFERED } from '../limits.ts'

type Kind = 'resources' | 'templates' | 'prompts'

/** The servers' resources and prompts, to be listed and read. */
export function addOfferRoutes(app: Hono, { source, clients }: GatewayContext): void {
  const { catalog } = source
  app.get('/api/servers/:name/offers', async c => {
    const server = c.req.param('name')
    const client = clients.of(c.req.raw)
    const list = async (kind: Kind) => {
      const { entries } = (await catalog?.list(kind, ofServer(server, client, kind))) ?? { entries: [] }
      return entries.slice(0, MAX_OFFERED)
    }
    const [resources, templates, prompts] = await Promise.all([
      list('resources'),
      list('templates'),
      list('prompts'),
    ])
    return json({ resources, templates, prompts })
  })
  app.post('/api/resources/read', c =>
    answered(c.req.raw, async ({ uri }, signal) => {
      if (typeof uri !== 'string' || uri === '') return failure(400, "'uri' must be a non-empty string")
      const access = clients.of(c.req.raw).access('resources')
      return json(await catalog?.read(uri, { signal, access }))
    }),
  )
  app.post('/api/prompts/get', c =>
    answered(c.req.raw, async ({ name, arguments: args }, signal) => {
      if (typeof name !== 'string' || name === '') return failure(400, "'name' must be a non-empty string")
      if (args !== undefined && !isRecord(args)) return failure(400, "'arguments' must be an object")
      const access = clients.of(c.req.raw).access('prompts')
      return json(await catalog?.prompt(name, args, { signal, access }))
    }),
  )
}

/** Only that server's, and only what the client may see. */
function ofServer(server: string, client: Client, kind: Kind): Access {
  const access = client.access(kind)
  return (name, key) => name === server && (access?.(name, key) ?? true)
}

/** A server's failure keeps its own message. */
async function answered(
  request: Request,
  answer: (body: Record<string, unknown>, signal: AbortSignal) => Promise<Response>,
): Promise<Response> {
  const body = await readJson(request, MAX_ANSWER_BYTES)
  if (body instanceof Response) return body
  try {
    return await answer(isRecord(body.value) ? body.value : {}, request.signal)
  } catch (error) {
    if (error instanceof McpCallError) return failure(404, describeError(error))
    if (error instanceof ToolFailureError) return failure(502, describeError(error))
    throw error
  }
}
