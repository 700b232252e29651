import { dirname } from 'node:path'
import { similarNames } from '../../executor/find.ts'
import { REDIRECT_PATH } from '../../mcp/oauth/oauth-options.ts'
import { finishedPage } from '../../mcp/oauth/redirect-server.ts'
import { describeError } from '../../mcp/server-failure.ts'
import { addServer } from '../../project/edit-config.ts'
import { knownPrograms } from '../../project/other-programs.ts'
import { programServers } from '../../project/resolve.ts'
import { ownValue } from '../../util/guards.ts'
import { hostOf } from '../clients.ts'
import type { GatewayContext } from '../context.ts'
import {
  type App,
  type Body,
  bodyOf,
  headerOf,
  json,
  ownerOnly,
  type RequestContext,
  refusal,
} from '../http.ts'
import { MAX_OFFERED } from '../limits.ts'

const MAX_NAME = 100

/** The MCP servers: state, messages, control, logins, and what they offer besides tools. */
export function addServerRoutes(app: App, { source, calls }: GatewayContext): void {
  const { catalog } = source
  const find = (name: string) => source.status().servers.find(server => server.name === name)
  /** The server that a request is about, which only the owner may control. */
  const known = (c: RequestContext) => {
    ownerOnly(c)
    const name = c.req.param('name') ?? ''
    const [near] = similarNames(name, source.status().servers)
    const hint = near === undefined ? '' : `. Did you mean ${near}?`
    if (!find(name)) throw refusal(404, `No server '${name}'${hint}`)
    return name
  }
  /** Whether the servers and the configuration can be changed now, and there is one. */
  const changeable = (c: RequestContext, isFile: boolean) => {
    ownerOnly(c)
    if (calls.isDraining) throw refusal(503, 'Toolpost is shutting down')
    if (isFile && !source.reload) throw refusal(404, 'There is no configuration file')
  }
  app.get('/api/servers', c => json({ servers: c.env.client.seenServers(source.status().servers) }))
  // Only `/api/servers/found`: Hono's fast router takes no fixed name beside `/api/servers/:name/…`.
  app.get('/api/servers/:name', async c => {
    if (c.req.param('name') !== 'found') throw refusal(404, `Not found: GET ${c.req.path.slice(0, 200)}`)
    ownerOnly(c)
    const found = await foundServers(source.file === undefined ? process.cwd() : dirname(source.file))
    return json({ servers: found.filter(({ name }) => !find(name)) })
  })
  app.get('/api/servers/:name/messages', c => {
    const name = known(c)
    const after = Number(c.req.query('after') ?? 0)
    if (!Number.isSafeInteger(after)) throw refusal(400, "Invalid 'after'; expected a number")
    return json({ messages: source.messages?.(name, { after }) ?? [], stderr: find(name)?.stderr ?? '' })
  })
  app.post('/api/servers/:name/:verb', async c => {
    const name = known(c)
    const { verb } = c.req.param()
    if (verb === 'login') return json(await login(c, name))
    const action = ownValue({ start: source.restart, restart: source.restart, stop: source.stop }, verb)
    if (!action) throw refusal(404, `Not found: POST ${c.req.path.slice(0, 200)}`)
    changeable(c, false)
    await action(name)
    return json({ server: find(name) })
  })
  app.post('/api/reload', async c => {
    changeable(c, true)
    return json(await source.reload?.())
  })
  let isAdding = false
  // A server is a program that gets started, so only the owner may add one, one at a time.
  app.post('/api/servers', async c => {
    changeable(c, true)
    const types = { name: 'string', entry: 'object', 'check?': 'boolean', 'replace?': 'boolean' } as const
    const body = await bodyOf<Parameters<typeof addServer>[0]>(c, types)
    const { name, entry, check = true, replace = false } = body
    if (!/^[\w.-]+$/.test(name) || name.length > MAX_NAME)
      throw refusal(400, `'name' must be 1 to ${MAX_NAME} letters, digits, '.', '-' or '_'`)
    if (isAdding) throw refusal(409, 'Another server is being added')
    isAdding = true
    try {
      const { signal } = c.req.raw
      const added = await addServer({ name, entry, check, replace, file: source.file, signal })
      if (added.outcome === 'taken') throw refusal(409, `${added.file} already has a server '${name}'`)
      if (added.outcome === 'failed') {
        const { error, stderr, state, hint } = added.tried.status
        return json({ error: error ?? `The server is ${state}`, stderr, hint }, 422)
      }
      await source.reload?.()
      return json({ file: added.file, tools: added.tried?.tools ?? [] }, 201)
    } finally {
      isAdding = false
    }
  })
  /** Begins a login; resolves to the page that a person must visit, if there is one. */
  async function login(c: RequestContext, name: string): Promise<{ url?: string }> {
    const login = source.logins?.()?.of(name)
    if (!login) throw refusal(404, `No server '${name}' to log in to`)
    try {
      // As the browser sees it; the guard has checked both headers.
      const address = headerOf(c, 'origin') ?? `http://${hostOf(c.req.raw, c.env)}`
      if (login.isInteractive) return { url: await login.begin(address + REDIRECT_PATH) }
      await login.signIn()
      return {}
    } catch (error) {
      throw refusal(502, `Cannot log in to '${name}': ${describeError(error)}`)
    }
  }
  // Where the browser returns to.
  app.get(REDIRECT_PATH, c => {
    const finish = async (answer: URLSearchParams) => {
      const logins = source.logins?.()
      if (!logins) throw new Error('No server to log in to')
      return logins.finish(answer)
    }
    return finishedPage(new URL(c.req.url).searchParams, finish, '/')
  })
  app.get('/api/servers/:name/offers', async c => {
    const list = async (kind: 'resources' | 'templates' | 'prompts') => {
      const access = c.env.client.access(kind)
      const isSeen = (server: string, key: string) =>
        server === c.req.param('name') && (access?.(server, key) ?? true)
      return (await catalog?.list(kind, isSeen))?.entries.slice(0, MAX_OFFERED) ?? []
    }
    const resources = await list('resources')
    return json({ resources, templates: await list('templates'), prompts: await list('prompts') })
  })
  app.post('/api/resources/read', async c => {
    const { uri } = await bodyOf<{ uri: string }>(c, { uri: 'string' })
    const options = { signal: c.req.raw.signal, access: c.env.client.access('resources') }
    return json(await catalog?.read(uri, options))
  })
  app.post('/api/prompts/get', async c => {
    const types = { name: 'string', 'arguments?': 'object' } as const
    const { name, arguments: args } = await bodyOf<{ name: string; arguments?: Body }>(c, types)
    const options = { signal: c.req.raw.signal, access: c.env.client.access('prompts') }
    return json(await catalog?.prompt(name, args, options))
  })
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
