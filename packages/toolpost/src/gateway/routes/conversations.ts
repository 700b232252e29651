import type { Hono } from 'hono'
import { isRecord } from '../../runtime/guards.ts'
import type { GatewayContext } from '../gateway-context.ts'
import { failure, json } from '../http/answers.ts'
import { readJson } from '../http/read-body.ts'

const MAX_NAME_BYTES = 4_000
const PATH = '/api/conversations/:id'

/** The chat's conversations; every client has its own. */
export function addConversationRoutes(app: Hono, { archive, conversations, clients }: GatewayContext): void {
  const ownerOf = (request: Request) => clients.of(request).name
  app.get('/api/conversations', async c => json({ conversations: await archive.list(ownerOf(c.req.raw)) }))
  app.get(PATH, async c => {
    const found = await archive.get(ownerOf(c.req.raw), c.req.param('id'))
    if (!found) return unknown()
    const { owner: _, ...conversation } = found
    return json(conversation)
  })
  app.patch(PATH, async c => {
    const body = await readJson(c.req.raw, MAX_NAME_BYTES)
    if (body instanceof Response) return body
    const { name } = isRecord(body.value) ? body.value : {}
    if (typeof name !== 'string' || name.trim() === '')
      return failure(400, "'name' must be a non-empty string")
    const renamed = await archive.rename(ownerOf(c.req.raw), c.req.param('id'), name)
    return renamed ? json(renamed) : unknown()
  })
  app.delete(PATH, async c => {
    const id = c.req.param('id')
    if (conversations.isBusy(id)) return failure(409, 'This conversation is still being answered')
    if (!(await archive.remove(ownerOf(c.req.raw), id))) return unknown()
    conversations.forget(id)
    return new Response(null, { status: 204 })
  })
}

function unknown(): Response {
  return failure(404, 'No conversation with this id')
}
