import { describe, expect, it } from 'vitest'
import { ADDRESS, testGateway } from '../../test/gateway.ts'

const ROUTES = [
  ...['/', '/api/tools', '/api/servers', '/api/model', '/api/calls', '/api/events', '/api/openapi.json'],
  ...['/metrics', '/healthz', '/mcp', '/nowhere'],
]
const POSTS = ['/api/tools/echo/call', '/api/servers/x/restart', '/api/chat', '/api/transcriptions', '/mcp']

describe('a request with a foreign Host', () => {
  it.each([...ROUTES, ...POSTS])('[F37] is answered with 403: %s', async path => {
    await using gateway = testGateway()
    for (const host of ['evil.example:4040', '127.0.0.1.evil.example', '169.254.1.1', 'localhost.', '']) {
      const init = { method: POSTS.includes(path) ? 'POST' : 'GET', headers: { host } }
      const response = await gateway.fetch(new Request(`http://127.0.0.1:4040${path}`, init))
      expect([host, response.status]).toEqual([host, 403])
    }
  })

  it('[F37] is one of ours by any name of the loopback, on any port', async () => {
    await using gateway = testGateway()
    for (const host of ['localhost:4040', '127.0.0.1:9', '[::1]:4040', 'LOCALHOST'])
      expect((await gateway.get('/healthz', { host })).status).toBe(200)
  })
})

describe('a request with a foreign Origin', () => {
  it.each([...ROUTES, ...POSTS])('[F37] is answered with 403: %s', async path => {
    await using gateway = testGateway()
    const foreign = ['http://evil.example', 'http://127.0.0.1:3000', 'http://localhost:4040', 'null', '']
    for (const origin of foreign) {
      const headers = { host: '127.0.0.1:4040', origin }
      const init = { method: POSTS.includes(path) ? 'POST' : 'GET', headers }
      const response = await gateway.fetch(new Request(`http://127.0.0.1:4040${path}`, init))
      expect([origin, response.status]).toEqual([origin, 403])
    }
  })

  it('[F37] is not foreign if it is exactly the address requested', async () => {
    await using gateway = testGateway()
    const headers = { host: '127.0.0.1:4040', origin: 'http://127.0.0.1:4040' }
    const response = await gateway.post('/api/tools/echo/call', {}, { headers })
    expect(response.status).toBe(200)
  })

  it('[F37] is recognized by Sec-Fetch-Site if there is no Origin; a link to the page is fine', async () => {
    await using gateway = testGateway()
    for (const site of ['cross-site', 'same-site'])
      expect((await gateway.get('/api/events', { 'sec-fetch-site': site })).status).toBe(403)
    const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }
    expect((await gateway.get('/', link)).status).toBe(200)
    expect((await gateway.get('/api/tools', link)).status).toBe(403)
  })
})

describe('the token', () => {
  const token = 'correct-horse-battery'
  const open = ['/', '/healthz', '/readyz']

  it.each(ROUTES.filter(path => !open.includes(path)))('[F65] is asked for on %s', async path => {
    await using gateway = testGateway([], { token })
    for (const authorization of [undefined, 'Bearer wrong', token, `Basic ${token}`, `Bearer ${token}x`]) {
      const response = await gateway.getOpenly(path, authorization === undefined ? {} : { authorization })
      expect(response.status).toBe(401)
      expect(response.headers.get('www-authenticate')).toBe('Bearer')
    }
    const response = await gateway.get(path, { authorization: `bearer ${token}` })
    expect(response.status).not.toBe(401)
    await response.body?.cancel()
  })

  it('is not asked for on open routes, nor by the page itself, which could not send it', async () => {
    await using gateway = testGateway([], { token })
    for (const path of open) expect((await gateway.getOpenly(path)).status).toBe(200)
    expect((await gateway.fetch(new Request(ADDRESS, { method: 'HEAD' }))).status).toBe(200)
    expect((await gateway.fetch(new Request(ADDRESS, { method: 'POST' }))).status).toBe(401)
  })

  it('can be replaced; then the old one is refused', async () => {
    await using gateway = testGateway([], { token })
    const statusWith = async (given: string) =>
      (await gateway.get('/api/tools', { authorization: `Bearer ${given}` })).status
    gateway.setToken('another-horse-battery')
    expect([await statusWith(token), await statusWith('another-horse-battery')]).toEqual([401, 200])
  })

  it('is not asked for if authentication is off, which it cannot be for named clients', async () => {
    await using gateway = testGateway([], { token: false })
    expect((await gateway.getOpenly('/api/tools')).status).toBe(200)
    expect(gateway.token).toBeUndefined()
    const clients = { home: { token: 'home-token-0123456789' } }
    expect(() => testGateway([], { token: false, clients })).toThrow("'clients' need authentication")
    const oauth = { issuer: 'https://login.example.com', audience: 'x' }
    expect(() => testGateway([], { token: false, oauth })).toThrow("'oauth' needs authentication")
  })

  it('[F65] is also asked for if there are named clients: who leaves the header out is nobody', async () => {
    await using gateway = testGateway([], { clients: { home: { token: 'home-token-0123456789' } } })
    for (const path of ['/api/tools', '/api/approvals', '/mcp', '/api/events', '/metrics'])
      expect([path, (await gateway.getOpenly(path)).status]).toEqual([path, 401])
  })
})
