import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import type { Hono } from 'hono'
import { authorizationServer } from './authorization-server.ts'
import { Grants } from './grants.ts'
import { protectedServer } from './protected-server.ts'

/** What the two servers lie about. */
export interface OAuthLies {
  /** The issuer in the authorization server's metadata. */
  issuer?: string
  /** `iss` in the answer to a login. */
  iss?: string
  /** `state` in the answer to a login. */
  state?: string
  /** The resource in the MCP server's metadata. */
  resource?: string
  /** The authorization server that the MCP server names. */
  authorizationServer?: string
  /** Does not announce PKCE. */
  noPkce?: boolean
  tokenEndpoint?: string
  authorizationEndpoint?: string
  /** The authorization server's metadata: redirected or endless. */
  metadata?: { redirect: string } | 'endless'
  /** The MCP server redirects every request to this address. */
  serverRedirect?: string
}

export interface FakeOAuthOptions {
  /** No refresh tokens. */
  noRefresh?: boolean
  /** Clients that are already registered: id → secret, or `''` for one without. */
  clients?: Record<string, string>
  /** The MCP server has no metadata, as in older versions of the protocol. */
  noResourceMetadata?: boolean
  /** The scope that a 401 asks for. */
  scope?: string
  lies?: OAuthLies
}

/** A real authorization server and an MCP server that it protects, on loopback. */
export interface FakeOAuth {
  /** The MCP server: tools `echo` (read-only), `write`, `slow`, and `admin`, which requires the scope `admin`. */
  url: string
  issuer: string
  /** The requests to the authorization server, in order: `register`, `authorize`, `refresh_token` … */
  readonly asked: string[]
  /** The calls the MCP server carried out. */
  readonly calls: string[]
  /** Every secret issued: tokens, codes and client secrets. */
  readonly secrets: string[]
  /** The scope the last login asked for. */
  readonly lastScope: string | undefined
  /** Makes all access tokens expire now; they can be refreshed. */
  expire(): void
  /** Revokes all grants. */
  revoke(): void
  /** Resolves when a call of `slow` has begun. */
  slowBegan(): Promise<void>
  /** Lets calls of `slow` end. */
  release(): void
  /** Acts as a person who agrees: follows the login page to its redirect. */
  agree(page: string): Promise<URL>
  [Symbol.asyncDispose](): Promise<void>
}

export async function fakeOAuth(options: FakeOAuthOptions = {}): Promise<FakeOAuth> {
  const grants = new Grants(options)
  const authorization = await listen(url => authorizationServer(url, grants, options))
  const mcp = await listen(url => protectedServer({ url, issuer: authorization.url, grants, options }))
  return {
    url: `${mcp.url}/mcp`,
    issuer: authorization.url,
    asked: grants.asked,
    calls: grants.calls,
    get secrets() {
      return [...grants.secrets]
    },
    get lastScope() {
      return grants.lastScope
    },
    expire: () => grants.expire(),
    revoke: () => grants.revokeAll(),
    slowBegan: () => grants.slowBegan,
    release: () => grants.release(),
    async agree(page) {
      const response = await fetch(page, { redirect: 'manual' })
      const location = response.headers.get('location')
      if (location === null)
        throw new Error(`The login page answered ${response.status}: ${await response.text()}`)
      return new URL(location)
    },
    async [Symbol.asyncDispose]() {
      grants.release()
      await Promise.all([authorization.close(), mcp.close()])
    },
  }
}

async function listen(app: (url: string) => Hono): Promise<{ url: string; close(): Promise<void> }> {
  let handler: Hono | undefined
  const server = serve({
    fetch: (request, env) => handler?.fetch(request, env) ?? new Response('', { status: 503 }),
    hostname: '127.0.0.1',
    port: 0,
  })
  if (!server.listening) await new Promise<void>(resolve => server.once('listening', () => resolve()))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  handler = app(url)
  return {
    url,
    close: () =>
      new Promise<void>(resolve => {
        server.close(() => resolve())
        if ('closeAllConnections' in server) server.closeAllConnections()
      }),
  }
}
