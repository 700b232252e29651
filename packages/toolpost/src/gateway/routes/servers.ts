import { dirname } from 'node:path'
import { similarNames } from '../../executor/find.ts'
import { McpCallError } from '../../mcp/call-result.ts'
import { REDIRECT_PATH } from '../../mcp/oauth/oauth-options.ts'
import { finishedPage } from '../../mcp/oauth/redirect-server.ts'
import { describeError } from '../../mcp/server-failure.ts'
import { ConfigError } from '../../project/config.ts'
import { addServer } from '../../project/edit-config.ts'
import { knownPrograms } from '../../project/other-programs.ts'
import { programServers } from '../../project/resolve.ts'
import { ToolFailureError } from '../../tools/tool-failure-error.ts'
import { isRecord } from '../../util/guards.ts'
import { hostOf } from '../clients.ts'
import type { GatewayContext, GatewaySource } from '../context.ts'
import { GatewayError } from '../gateway.ts'
import {
  type App,
  type Body,
  failure,
  headerOf,
  json,
  type RequestContext,
  shuttingDown,
  withBody,
} from '../http.ts'
import { MAX_OFFERED } from '../limits.ts'

const MAX_NAME = 100

/** The MCP servers: state, messages, control, logins, and what they offer besides tools. */
export function addServerRoutes(app: App, { source, calls }: GatewayContext): void {
  const find = (name: string) => source.status().servers.find(server => server.name === name)
  const refusal = (c: RequestContext, what: string) => {
    if (c.env.client.isNamed) return failure(403, `Named clients may not ${what}`)
    return calls.isDraining ? shuttingDown() : undefined
  }
  const unknown = (name: string) => {
    if (find(name)) return undefined
    const [near] = similarNames(name, source.status().servers)
    return failure(404, `No server '${name}'${near === undefined ? '' : `. Did you mean ${near}?`}`)
  }
  app.get('/api/servers', c => json({ servers: c.env.client.seenServers(source.status().servers) }))
  // Only `/api/servers/found`: Hono's fast router takes no fixed name beside `/api/servers/:name/…`.
  app.get('/api/servers/:name', async c => {
    if (c.req.param('name') !== 'found') return failure(404, `Not found: GET ${c.req.path.slice(0, 200)}`)
    const folder = source.file === undefined ? process.cwd() : dirname(source.file)
    const found = async () =>
      json({ servers: (await foundServers(folder)).filter(({ name }) => !find(name)) })
    return refusal(c, 'look for servers') ?? found()
  })
  app.get('/api/servers/:name/messages', c => {
    const name = c.req.param('name')
    const { after = '0' } = c.req.query()
    if (c.env.client.isNamed) return failure(403, 'Named clients may not read the messages of servers')
    if (!/^\d{1,15}$/.test(after)) return failure(400, `Invalid after '${after}'; expected a number`)
    const messages = source.messages?.(name, { after: Number(after) }) ?? []
    return unknown(name) ?? json({ messages, stderr: find(name)?.stderr ?? '' })
  })
  const change = (verb: string, action: (name: string) => Promise<void> | undefined) =>
    app.post(`/api/servers/:name/${verb}`, async c => {
      const name = c.req.param('name') ?? ''
      const refused = refusal(c, `${verb} servers`) ?? unknown(name)
      if (!refused) await action(name)
      return refused ?? json({ server: find(name) })
    })
  change('restart', name => source.restart(name))
  change('start', name => source.restart(name))
  change('stop', name => source.stop?.(name))
  app.post('/api/reload', c => {
    const missing = source.reload ? undefined : failure(404, 'There is no configuration file to reload')
    const reload = () => unlessMistaken(async () => json(await source.reload?.()))
    return refusal(c, 'reload the configuration') ?? missing ?? reload()
  })
  let isAdding = false
  // A server is a program that gets started, so only the owner may add one, one at a time.
  const add = async (body: Body, signal: AbortSignal) => {
    const { name, entry, check = true, replace = false } = body
    if (typeof name !== 'string' || !/^[\w.-]+$/.test(name) || name.length > MAX_NAME)
      return failure(400, `'name' must be 1 to ${MAX_NAME} letters, digits, '.', '-' or '_'`)
    if (!isRecord(entry)) return failure(400, "'entry' must be an object with 'command' or 'url'")
    if (typeof check !== 'boolean' || typeof replace !== 'boolean')
      return failure(400, "'check' and 'replace' must be true or false")
    if (isAdding) return failure(409, 'Another server is being added')
    isAdding = true
    const answer = async () => {
      const added = await addServer({ name, entry, check, replace, file: source.file, signal })
      if (added.outcome === 'taken') return failure(409, `${added.file} already has a server '${name}'`)
      if (added.outcome === 'failed') {
        const { error, stderr, state, hint } = added.tried.status
        return json({ error: error ?? `The server is ${state}`, stderr, hint }, 422)
      }
      await source.reload?.()
      return json({ file: added.file, tools: added.tried?.tools ?? [] }, 201)
    }
    return unlessMistaken(answer).finally(() => {
      isAdding = false
    })
  }
  app.post('/api/servers', c => {
    const missing = source.reload
      ? undefined
      : failure(404, 'There is no configuration file to add a server to')
    return refusal(c, 'add servers') ?? missing ?? withBody(c, body => add(body, c.req.raw.signal))
  })
  app.post('/api/servers/:name/login', async c => {
    const name = c.req.param('name')
    if (c.env.client.isNamed) return failure(403, 'Named clients may not log in to servers')
    const login = source.logins?.()?.of(name)
    if (!login) return failure(404, `No server '${name}' to log in to`)
    try {
      // As the browser sees it; the guard has checked both headers.
      const address = headerOf(c, 'origin') ?? `http://${hostOf(c.req.raw)}`
      if (login.isInteractive) return json({ url: await login.begin(address + REDIRECT_PATH) })
      await login.signIn()
      return json({})
    } catch (error) {
      return failure(502, `Cannot log in to '${name}': ${describeError(error)}`)
    }
  })
  // Where the browser returns to.
  app.get(REDIRECT_PATH, c => {
    const finish = async (answer: URLSearchParams) => {
      const logins = source.logins?.()
      if (!logins) throw new Error('No server to log in to')
      return logins.finish(answer)
    }
    return finishedPage(new URL(c.req.url).searchParams, finish, '/')
  })
  addOfferRoutes(app, source)
}

/** The usable servers that other programs on this machine have. */
async function foundServers(folder: string) {
  const lists = knownPrograms(folder).map(async program => {
    // A file that cannot be read is left out.
    const found = await programServers(program, folder).catch(() => [])
    const usable = found.filter(({ problem }) => problem === undefined)
    return usable.map(({ name, entry }) => ({ program: program.name, name, entry }))
  })
  return (await Promise.all(lists)).flat()
}

/** A mistake in the configuration is the caller's. */
async function unlessMistaken(answer: () => Promise<Response>): Promise<Response> {
  try {
    return await answer()
  } catch (error) {
    if (error instanceof ConfigError || error instanceof GatewayError) return failure(422, error.message)
    throw error
  }
}

/** The servers' resources and prompts, to be listed and read. */
function addOfferRoutes(app: App, { catalog }: GatewaySource): void {
  app.get('/api/servers/:name/offers', async c => {
    const list = async (kind: 'resources' | 'templates' | 'prompts') => {
      const access = c.env.client.access(kind)
      const isSeen = (server: string, key: string) =>
        server === c.req.param('name') && (access?.(server, key) ?? true)
      return (await catalog?.list(kind, isSeen))?.entries.slice(0, MAX_OFFERED) ?? []
    }
    const [resources, templates] = [await list('resources'), await list('templates')]
    return json({ resources, templates, prompts: await list('prompts') })
  })
  /** A server's failure keeps its own message. */
  const offer = (
    path: string,
    key: 'uri' | 'name',
    read: (given: string, c: RequestContext, body: Body) => unknown,
  ) =>
    app.post(path, c =>
      withBody(c, async body => {
        const given = body[key]
        if (typeof given !== 'string' || given === '')
          return failure(400, `'${key}' must be a non-empty string`)
        if (body.arguments !== undefined && !isRecord(body.arguments))
          return failure(400, "'arguments' must be an object")
        try {
          return json(await read(given, c, body))
        } catch (error) {
          if (error instanceof McpCallError) return failure(404, describeError(error))
          if (error instanceof ToolFailureError) return failure(502, describeError(error))
          throw error
        }
      }),
    )
  offer('/api/resources/read', 'uri', (uri, c) =>
    catalog?.read(uri, { signal: c.req.raw.signal, access: c.env.client.access('resources') }),
  )
  offer('/api/prompts/get', 'name', (name, c, { arguments: args }) => {
    const options = { signal: c.req.raw.signal, access: c.env.client.access('prompts') }
    return catalog?.prompt(name, args as Body | undefined, options)
  })
}
