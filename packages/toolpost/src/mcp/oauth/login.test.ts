import { once } from 'node:events'
import { get } from 'node:http'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type FakeOAuth, type FakeOAuthOptions, fakeOAuth } from '../../../test/fake-oauth/fake-oauth.ts'
import { type Harness, startServers } from '../../../test/hostile-server/harness.ts'
import type { McpIntegrationOptions } from '../mcp-integration.ts'
import type { OAuthOptions } from './oauth-options.ts'
import { listenForRedirect } from './redirect-server.ts'

const REDIRECT = 'http://127.0.0.1:9/oauth/callback'

interface Started extends Harness {
  oauth: FakeOAuth
}

/** A client of a protected server; `server` is what the authorization server does, `own` the entry's `oauth`. */
async function connect(
  server: FakeOAuthOptions = {},
  own?: OAuthOptions | false,
  options: Partial<McpIntegrationOptions> = {},
): Promise<Started> {
  const oauth = await fakeOAuth(server)
  const entry = { url: oauth.url, ...(own !== undefined && { oauth: own }) }
  const client = await startServers({ remote: entry }, { retry: { attempts: 1 }, ...options })
  return {
    ...client,
    oauth,
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]()
      await oauth[Symbol.asyncDispose]()
    },
  }
}

/** As a person does it, in a browser. */
async function logIn({ mcp, oauth }: Started): Promise<void> {
  const page = await mcp.logins.of('remote')?.begin(REDIRECT)
  const back = await oauth.agree(page ?? '')
  await mcp.logins.finish(back.searchParams)
}

function ready({ mcp }: Started): Promise<void> {
  return vi.waitFor(() => expect(mcp.status()[0]?.state).toBe('ready'), { timeout: 20_000 })
}

async function loggedIn(...given: Parameters<typeof connect>): Promise<Started> {
  const client = await connect(...given)
  await logIn(client)
  await ready(client)
  return client
}

const count = ({ oauth }: Started, what: string) => oauth.asked.filter(asked => asked === what).length

afterEach(() => void vi.useRealTimers())

describe('a server that wants a login', () => {
  it('[F58] is ready once a person has logged in: registration, PKCE, code, token', async () => {
    await using client = await connect()
    expect(client.status().error).toBe('login required; run `toolpost auth remote`')
    await logIn(client)
    await ready(client)
    expect(client.oauth.asked).toEqual(['register', 'authorize', 'authorization_code'])
    expect(await client.executor.execute('echo', { text: 'hello' })).toBe('hello')
  })

  it('and says nothing about OAuth is told as it is: it may want something else', async () => {
    await using client = await connect({ noResourceMetadata: true })
    expect(client.status()).toMatchObject({ state: 'failed', error: 'HTTP 401 Unauthorized: log in first' })
  })

  it('logs in by itself with client credentials, and again when the token expires', async () => {
    await using client = await connect(
      { clients: { robot: 'robot-secret' } },
      { grant: 'client_credentials', clientId: 'robot', clientSecret: 'robot-secret', scope: 'read' },
    )
    expect(client.status().state).toBe('ready')
    client.oauth.expire()
    expect(await client.executor.execute('write', { text: 'on' })).toBe('on')
    expect(client.oauth.asked).toEqual(['client_credentials', 'client_credentials'])
  })
})

describe('a token', () => {
  it('[F58] that has expired is refreshed once for twenty calls, and each is carried out once', async () => {
    await using client = await loggedIn()
    client.oauth.expire()
    const texts = Array.from({ length: 20 }, (_, at) => `call ${at}`)
    const answers = await Promise.all(texts.map(text => client.executor.execute('write', { text })))
    expect(answers).toEqual(texts)
    expect(count(client, 'refresh_token')).toBe(1)
    expect(client.oauth.calls).toHaveLength(20)
  })

  it('[F58] that cannot be refreshed needs another login; calls then fail at once, with the words', async () => {
    await using client = await loggedIn({ noRefresh: true })
    client.oauth.expire()
    const first = await client.executor.run({ id: '1', name: 'write', args: {} })
    expect(first).toMatchObject({
      code: 'unavailable',
      error: 'The remote service is unavailable: the login has expired; run `toolpost auth remote`',
    })
    await vi.waitFor(() => expect(client.status().state).toBe('needs_login'))
    expect(await client.executor.run({ id: '2', name: 'write', args: {} })).toMatchObject({
      code: 'unavailable',
      error: expect.stringContaining('`toolpost auth remote`'),
    })
    expect(client.oauth.calls).toEqual([])
    await logIn(client)
    await ready(client)
    expect(await client.executor.execute('write', { text: 'again' })).toBe('again')
  })

  it('[F58] revoked in the middle of a call: that call ends, the next one says what to do', async () => {
    await using client = await loggedIn()
    const slow = client.executor.execute('slow', { text: 'done' })
    await client.oauth.slowBegan()
    client.oauth.revoke()
    expect(await client.executor.run({ id: '1', name: 'write', args: {} })).toMatchObject({
      code: 'unavailable',
      error: expect.stringContaining('revoked: invalid_grant; run `toolpost auth remote`'),
    })
    client.oauth.release()
    expect(await slow).toBe('done')
    expect(client.status().state).toBe('needs_login')
    expect(client.oauth.calls).toEqual(['slow'])
  })

  it('[F58] that is not good for a call fails that call alone, and the next login asks for both', async () => {
    await using client = await loggedIn({ scope: 'read' })
    expect(await client.executor.run({ id: '1', name: 'admin', args: {} })).toMatchObject({
      code: 'denied',
      error: "Tool 'admin' was denied: more permissions are needed (read admin); run `toolpost auth remote`",
    })
    expect(client.status().state).toBe('ready')
    expect(await client.executor.execute('echo', { text: 'still' })).toBe('still')
    await logIn(client)
    expect(client.oauth.lastScope).toBe('read admin')
    await ready(client)
    expect(await client.executor.execute('admin', { text: 'yes' })).toBe('yes')
  })
})

it('[F58] a stray request does not end the wait for a redirect', async () => {
  const redirect = await listenForRedirect(async () => 'remote')
  const { hostname, port } = new URL(redirect.url)
  const [response] = await once(get({ hostname, port, path: '//' }), 'response')
  expect(response.statusCode).toBe(404)
  expect(await (await fetch(`${redirect.url}?code=a?b`)).text()).toContain('logged in to &#39;remote&#39;')
  redirect.close()
})
