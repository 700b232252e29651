import type { Context, Hono } from 'hono'
import { ConfigError } from '../../project/config.ts'
import { addServer } from '../../project/add-server.ts'
import { isRecord } from '../../runtime/guards.ts'
import type { GatewayContext } from '../gateway-context.ts'
import { GatewayError } from '../gateway-error.ts'
import { failure, json, shuttingDown } from '../http/answers.ts'
import { readJson } from '../http/read-body.ts'

const MAX_ENTRY_BYTES = 100_000
const MAX_NAME = 100

/** A server to be added. */
interface NewServer {
  name: string
  entry: Record<string, unknown>
  check: boolean
  replace: boolean
}

/** A server is a program that gets started, so only the owner may add one, one at a time. */
export function addAddServerRoute(app: Hono, context: GatewayContext): void {
  let isAdding = false
  app.post('/api/servers', async c => {
    const refusal = refuse(c, context)
    if (refusal) return refusal
    const body = await readJson(c.req.raw, MAX_ENTRY_BYTES)
    if (body instanceof Response) return body
    const wish = wishIn(body.value)
    if (typeof wish === 'string') return failure(400, wish)
    if (isAdding) return failure(409, 'Another server is being added')
    isAdding = true
    try {
      return await add(wish, c.req.raw.signal, context)
    } finally {
      isAdding = false
    }
  })
}

function refuse(c: Context, { source, calls, clients }: GatewayContext): Response | undefined {
  if (clients.of(c.req.raw).isNamed) return failure(403, 'Named clients may not add servers')
  if (calls.isDraining) return shuttingDown()
  if (!source.reload) return failure(404, 'There is no configuration file to add a server to')
  return undefined
}

async function add(wish: NewServer, signal: AbortSignal, { source }: GatewayContext): Promise<Response> {
  try {
    const added = await addServer({ ...wish, file: source.file, signal })
    if (added.outcome === 'taken') return failure(409, `${added.file} already has a server '${wish.name}'`)
    if (added.outcome === 'failed') {
      const { error, stderr, state, hint } = added.tried.status
      return json({ error: error ?? `The server is ${state}`, stderr, hint }, 422)
    }
    await source.reload?.()
    return json({ file: added.file, tools: added.tried?.tools ?? [] }, 201)
  } catch (error) {
    if (error instanceof ConfigError || error instanceof GatewayError) return failure(422, error.message)
    throw error
  }
}

/** What the body asks for, or what is wrong with it. */
function wishIn(body: unknown): NewServer | string {
  const { name, entry, check = true, replace = false } = isRecord(body) ? body : {}
  if (typeof name !== 'string' || !/^[\w.-]+$/.test(name) || name.length > MAX_NAME)
    return `'name' must be 1 to ${MAX_NAME} letters, digits, '.', '-' or '_'`
  if (!isRecord(entry)) return "'entry' must be an object with 'command' or 'url'"
  if (typeof check !== 'boolean' || typeof replace !== 'boolean')
    return "'check' and 'replace' must be true or false"
  return { name, entry, check, replace }
}
