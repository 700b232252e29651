import { describe, expect, it, vi } from 'vitest'
import { fakeOAuth } from '../../test/fake-oauth/fake-oauth.ts'
import { ADDRESS, dataOf, testGateway } from '../../test/gateway.ts'
import { startServers } from '../../test/hostile-server/harness.ts'

/** A gateway in front of a server that wants a login. */
async function protectedGateway(options: Parameters<typeof testGateway>[1] = {}) {
  const oauth = await fakeOAuth()
  const client = await startServers({ remote: { url: oauth.url } }, { retry: { attempts: 1 } })
  const gateway = testGateway([], { executor: client.executor, mcp: client.mcp, ...options })
  return {
    oauth,
    client,
    gateway,
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]()
      await client[Symbol.asyncDispose]()
      await oauth[Symbol.asyncDispose]()
    },
  }
}

const LOGIN = '/api/servers/remote/login'
/** What a browser sends that comes back from another site. */
const BACK = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }

describe('a login over the gateway', () => {
  it('[F58] begins with its address, ends at the gateway without a token, and the server is ready', async () => {
    await using parts = await protectedGateway({ token: 'owner-token' })
    const { gateway, oauth, client } = parts
    const headers = { authorization: 'Bearer owner-token' }
    expect((await dataOf(gateway.get('/api/servers', headers))).servers[0]).toMatchObject({
      state: 'needs_login',
    })
    expect((await dataOf(gateway.get('/healthz', headers))).servers).toMatchObject({ needs_login: 1 })
    const { url } = await dataOf(gateway.post(LOGIN, undefined, { headers }))
    const back = await oauth.agree(url)
    expect(`${back.origin}${back.pathname}`).toBe(`${ADDRESS}/oauth/callback`)
    const page = await gateway.get(back.pathname + back.search, BACK)
    expect(await page.text()).toContain('Toolpost is logged in to &#39;remote&#39;')
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
    await vi.waitFor(() => expect(client.status().state).toBe('ready'))
    const answers = JSON.stringify(await dataOf(gateway.get('/api/servers', headers)))
    for (const secret of oauth.secrets)
      expect(answers + (await dataOf(gateway.get('/api/tools', headers)))).not.toContain(secret)
  })

  it('[F58] an answer that was not asked for changes nothing, and its words are not obeyed', async () => {
    await using parts = await protectedGateway()
    const { gateway, client } = parts
    const forged = await gateway.get('/oauth/callback?state=x&code=y&error_description=%3Cscript%3E', BACK)
    const text = await forged.text()
    expect(text).toContain('Not logged in')
    expect(text).not.toContain('<script>')
    expect(client.status().state).toBe('needs_login')
    expect((await gateway.post('/oauth/callback')).status).toBe(405)
  })
})
