import { createSecretKey } from 'node:crypto'
import { type CryptoKey, exportSPKI, generateKeyPair, importJWK, SignJWT } from 'jose'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { as, dataOf, echoTool, testGateway, toolNamed } from '../../test/gateway.ts'
import { AUDIENCE, inSeconds, TestIssuer, type TokenChanges } from '../../test/oauth-issuer.ts'
import { Approvals, policy } from '../interceptors/index.ts'
import type { OAuthConfig } from '../project/config.ts'
import type { GatewayOptions } from './context.ts'

const OWN = 'own-token-0123456789abc'
const SCOPES = { 'tools:read': ['get_*'], home: ['control_light'] }
const METADATA = '/.well-known/oauth-protected-resource'

const tools = ['get_time', 'get_weather', 'control_light', 'hidden'].map(name =>
  toolNamed(name, () => 'done'),
)
const namesIn = (data: { tools: { name: string }[] }) => data.tools.map(({ name }) => name)

function gatewayFor(
  issuer: TestIssuer,
  oauth: Partial<OAuthConfig> = {},
  options: Partial<GatewayOptions> = {},
) {
  const config = { issuer: issuer.url, audience: AUDIENCE, ...oauth }
  return testGateway([...tools, echoTool], { oauth: config, ...options })
}

afterEach(() => void vi.useRealTimers())

describe('the metadata of the gateway as a protected resource', () => {
  it('is open, and names the resource, the issuer and the scopes', async () => {
    await using issuer = await TestIssuer.start()
    await using gateway = gatewayFor(issuer, { scopes: SCOPES }, { token: OWN })
    for (const path of [METADATA, `${METADATA}/mcp`]) {
      const response = await gateway.get(path)
      expect(response.status).toBe(200)
      expect(await response.json()).toEqual({
        resource: AUDIENCE,
        authorization_servers: [issuer.url],
        scopes_supported: ['tools:read', 'home'],
        bearer_methods_supported: ['header'],
        resource_name: 'Toolpost',
      })
    }
    expect(issuer.asked).toEqual([])
  })
})

describe('a request to a gateway with an issuer', () => {
  it('with a valid token sees all tools, whichever algorithm and form the issuer uses', async () => {
    await using issuer = await TestIssuer.start()
    await using gateway = gatewayFor(issuer)
    for (const alg of ['ES256', 'RS256', 'PS384', 'EdDSA']) {
      await issuer.addKey(alg)
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 })
      const token = await issuer.token({ claims: { aud: ['other', AUDIENCE] }, header: { typ: 'JWT' } })
      expect(namesIn(await dataOf(gateway.get('/api/tools', as(token))))).toHaveLength(5)
    }
  })

  it.each<[string, (issuer: TestIssuer) => TokenChanges, string]>([
    ['expired', () => ({ claims: { exp: inSeconds(-60) } }), "'exp' claim timestamp check failed"],
    ['not valid yet', () => ({ claims: { nbf: inSeconds(60) } }), "'nbf' claim timestamp check failed"],
    ['without an expiry', () => ({ claims: { exp: undefined } }), "missing required 'exp' claim"],
    ['for another audience', () => ({ claims: { aud: 'http://x.example' } }), "unexpected 'aud' claim"],
    ['for no audience', () => ({ claims: { aud: undefined } }), "missing required 'aud' claim"],
    ['of another issuer', () => ({ claims: { iss: 'https://evil.example' } }), "unexpected 'iss' claim"],
    ['of one slash more', ({ url }) => ({ claims: { iss: `${url}/` } }), "unexpected 'iss' claim"],
    ['for a logout', () => ({ header: { typ: 'logout+jwt' } }), 'not an access token'],
    ['of nobody', () => ({ claims: { sub: undefined } }), 'has no subject'],
    ['bound to a key', () => ({ claims: { cnf: { jkt: 'x' } } }), 'bound to a key'],
    ['with a foreign kid', () => ({ header: { kid: 'other' } }), 'no applicable key'],
    ['too long', () => ({ claims: { padding: 'x'.repeat(20_000) } }), 'too long'],
  ])('with a token %s is refused, and says why', async (_, changes, reason) => {
    await using issuer = await TestIssuer.start()
    await using gateway = gatewayFor(issuer)
    const response = await gateway.get('/api/tools', as(await issuer.token(changes(issuer))))
    expect(response.status).toBe(401)
    expect(response.headers.get('www-authenticate')).toMatch(
      /^Bearer error="invalid_token", error_description="/,
    )
    expect((await dataOf(response)).error).toContain(reason)
  })

  it('with a forged token is refused: no signature, the public key as a secret, a key of its own', async () => {
    await using issuer = await TestIssuer.start()
    await using gateway = gatewayFor(issuer)
    const [known] = issuer.keys
    const [header, payload] = (await issuer.token()).split('.') as [string, string]
    const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const publicKey = (await importJWK({ ...known?.jwk, ext: true }, 'ES256')) as CryptoKey
    const secret = createSecretKey(Buffer.from(await exportSPKI(publicKey)))
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString())
    const { privateKey } = await generateKeyPair('ES256')
    const forged = [
      `${encoded({ alg: 'none', kid: known?.kid })}.${payload}.`,
      await new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: known?.kid ?? '' }).sign(secret),
      await issuer.token({ key: privateKey }),
      await new SignJWT(claims)
        .setProtectedHeader({ alg: 'ES256', jwk: issuer.keys[0]?.jwk ?? {}, kid: 'mine' })
        .sign(privateKey),
      `${header}.${encoded({ ...claims, sub: 'admin' })}.${(await issuer.token()).split('.')[2]}`,
      'a.b.c',
      'not-a-jwt-at-all-but-long-enough',
    ]
    const problems = forged.slice(0, 2).map(token => dataOf(gateway.get('/api/tools', as(token))))
    for (const { error } of await Promise.all(problems))
      expect(error).toContain("'alg' (Algorithm) Header Parameter value not allowed")
    expect(issuer.asked).toEqual([])
    for (const token of forged) {
      const response = await gateway.get('/api/tools', as(token))
      expect([token, response.status]).toEqual([token, 401])
      expect(response.headers.get('www-authenticate')).toContain('error="invalid_token"')
    }
  })
})

describe('keys of an issuer', () => {
  it('that are unavailable open no door: 503 while the issuer is down, until it is back', async () => {
    await using issuer = await TestIssuer.start()
    await using gateway = gatewayFor(issuer, {}, { token: OWN })
    const token = await issuer.token()
    const port = Number(new URL(issuer.url).port)
    await issuer.close()
    const refused = await Promise.all([1, 2, 3].map(() => gateway.get('/api/tools', as(token))))
    for (const response of refused) {
      expect(response.status).toBe(503)
      expect(response.headers.get('retry-after')).toBe('5')
      expect((await dataOf(response)).error).toContain('The OAuth issuer is unavailable')
    }
    expect((await gateway.get('/api/tools', as(OWN))).status).toBe(200)
    await issuer.listen(port)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 5_000 })
    expect((await gateway.get('/api/tools', as(token))).status).toBe(200)
    await issuer.close()
    expect((await gateway.get('/api/tools', as(token))).status).toBe(200)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 })
    const unknown = await issuer.token({ header: { kid: 'new' } })
    expect((await gateway.get('/api/tools', as(unknown))).status).toBe(503)
    expect((await gateway.get('/api/tools', as(token))).status).toBe(200)
  })

  it.each<[string, string, (url: string) => { status?: number; body?: string; headers?: object }]>([
    ['calls itself another', description(), url => says({ issuer: `${url}/other`, jwks_uri: `${url}/keys` })],
    ['names no keys', description(), url => says({ issuer: url })],
    ['has keys over HTTP', description(), url => says({ issuer: url, jwks_uri: 'http://evil.example/keys' })],
    ['sends elsewhere', '/keys', () => ({ status: 302, headers: { location: '/elsewhere' } })],
    ['answers no JSON', '/keys', () => ({ body: '<html>' })],
    ['fails', description(), () => ({ status: 500 })],
  ])('of an issuer that %s are not used', async (_, path, answer) => {
    await using issuer = await TestIssuer.start()
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
    issuer.answers.set(path, answer)
    issuer.answers.set('/elsewhere', () => says({ keys: issuer.keys.map(({ jwk }) => jwk) }))
    await using gateway = gatewayFor(issuer)
    expect((await gateway.get('/api/tools', as(await issuer.token()))).status).toBe(503)
  })
})

function description() {
  return '/.well-known/oauth-authorization-server'
}

function says(value: unknown) {
  return { body: JSON.stringify(value) }
}

describe('scopes', () => {
  it.each([
    ['one', { scope: 'openid tools:read' }, ['get_time', 'get_weather']],
    ['both', { scope: 'home tools:read' }, ['get_time', 'get_weather', 'control_light']],
    ['a list', { scp: ['home'] }, ['control_light']],
  ])('open the tools that they name: %s', async (_, claims, expected) => {
    await using issuer = await TestIssuer.start()
    await using gateway = gatewayFor(issuer, { scopes: SCOPES })
    expect(namesIn(await dataOf(gateway.get('/api/tools', as(await issuer.token({ claims })))))).toEqual(
      expected,
    )
  })

  it.each([{}, { scope: '' }, { scope: 'constructor __proto__' }, { scope: 7 }, { scope: 'TOOLS:READ' }])(
    'that open nothing are refused, naming those that exist: %j',
    async claims => {
      await using issuer = await TestIssuer.start()
      await using gateway = gatewayFor(issuer, { scopes: SCOPES })
      const response = await gateway.get('/api/tools', as(await issuer.token({ claims })))
      expect(response.status).toBe(403)
      expect(response.headers.get('www-authenticate')).toMatch(
        /^Bearer error="insufficient_scope".*, scope="tools:read home"$/,
      )
    },
  )
})

describe('somebody with a token of an issuer', () => {
  it('has none of the powers of the owner', async () => {
    await using issuer = await TestIssuer.start()
    const approvals = new Approvals()
    await using gateway = gatewayFor(issuer, {}, { approvals, token: OWN })
    gateway.executor.use(policy([{ tools: ['control_light'], then: 'ask' }], { approvals }))
    const waiting = gateway.post('/api/tools/control_light/call', {}, { headers: as(OWN) })
    await vi.waitFor(() => expect(approvals.list()).toHaveLength(1))
    const headers = as(await issuer.token({ claims: { sub: 'default', scope: 'owner admin' } }))
    const [{ id } = { id: '' }] = approvals.list()
    const decided = await gateway.post(`/api/approvals/${id}`, { decision: 'approve' }, { headers })
    expect(decided.status).toBe(403)
    for (const path of [
      '/api/servers',
      '/api/calls',
      '/api/events',
      '/api/approvals',
      '/metrics',
      '/api/later',
    ])
      expect([path, (await gateway.get(path, headers)).status]).toEqual([path, 403])
    expect((await gateway.post('/api/reload', {}, { headers })).status).toBe(403)
    expect((await gateway.post('/api/servers/x/restart', {}, { headers })).status).toBe(403)
    expect(approvals.list()).toHaveLength(1)
    approvals.decide(id, 'deny', { by: 'test' })
    await waiting
  })
})
