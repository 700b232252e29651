import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { fakeOAuth, type OAuthLies } from '../../../test/fake-oauth/fake-oauth.ts'
import { startServers } from '../../../test/hostile-server/harness.ts'
import { Logins } from './logins.ts'

const REDIRECT = 'http://127.0.0.1:9/oauth/callback'

/** Another host, which must not hear of anything. */
async function stranger() {
  const heard: string[] = []
  const server = createServer((request, response) => {
    heard.push(`${request.method} ${request.url} ${request.headers.authorization ?? ''}`)
    response.end('{}')
  })
  await new Promise<void>(resolve => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const url = `http://localhost:${(server.address() as AddressInfo).port}`
  return { url, heard, [Symbol.asyncDispose]: async () => void server.close() }
}

/** How a login at such a server ends. */
async function logIn(lies: OAuthLies): Promise<string> {
  await using oauth = await fakeOAuth({ lies })
  const logins = new Logins({ servers: { remote: { url: oauth.url } } })
  try {
    const page = await logins.of('remote')?.begin(REDIRECT)
    const back = await oauth.agree(page ?? '')
    await logins.finish(back.searchParams)
    return 'logged in'
  } catch (error) {
    return (error as Error).message
  }
}

describe('an authorization server that lies is refused, with the reason', () => {
  it.each<[string, OAuthLies, string]>([
    ['another issuer in its metadata', { issuer: 'https://other.example' }, 'other.example'],
    ['another issuer in its answer', { iss: 'https://other.example' }, 'other.example'],
    ['another state in its answer', { state: 'another' }, 'not started here'],
    ['no PKCE', { noPkce: true }, 'does not support PKCE'],
    ['metadata of another resource', { resource: 'https://other.example/mcp' }, 'does not match'],
    ['a login page over http', { authorizationEndpoint: 'http://other.example/login' }, 'is not https'],
    ['a token endpoint over http', { tokenEndpoint: 'http://other.example/token' }, 'other.example'],
    ['a login page that is no page', { authorizationEndpoint: 'javascript:x' }, 'a malformed answer'],
    ['metadata that go on for ever', { metadata: 'endless' }, 'more than 1048576 bytes'],
    [
      'metadata on another host',
      { metadata: { redirect: 'https://other.example/m' } },
      'redirects to https://other.example/m',
    ],
  ])('[F58] %s', async (_, lies, reason) => {
    expect(await logIn(lies)).toContain(reason)
  })
})

describe('a token', () => {
  it('[F58] is sent to no other host, not even if its server redirects there', async () => {
    await using other = await stranger()
    const lies: OAuthLies = {}
    await using oauth = await fakeOAuth({ lies })
    await using client = await startServers({ remote: { url: oauth.url } }, { retry: { attempts: 1 } })
    const page = await client.mcp.logins.of('remote')?.begin(REDIRECT)
    await client.mcp.logins.finish((await oauth.agree(page ?? '')).searchParams)
    lies.serverRedirect = `${other.url}/mcp`
    await client.mcp.restart('remote')
    expect(client.status().error).toContain(other.url)
    expect(other.heard).toEqual([])
    await client.mcp.logins.of('remote')?.fetch(`${other.url}/mcp`, {})
    expect(other.heard).toEqual(['GET /mcp '])
  })

  it('[F58] and a client secret go to the authorization server of the first login alone', async () => {
    await using first = await fakeOAuth({ clients: { robot: 'robot-secret' } })
    await using other = await fakeOAuth({ clients: { robot: 'robot-secret' } })
    const lies: OAuthLies = {}
    await using server = await fakeOAuth({ lies })
    lies.authorizationServer = first.issuer
    const robot = { grant: 'client_credentials', clientId: 'robot', clientSecret: 'robot-secret' } as const
    await using client = await startServers(
      { remote: { url: server.url, oauth: robot } },
      { retry: { attempts: 1 } },
    )
    expect(first.asked.length).toBeGreaterThan(0)
    lies.authorizationServer = other.issuer
    await client.mcp.restart('remote')
    expect(client.status().error).toContain(other.issuer)
    expect(other.asked).toEqual([])
  })
})
