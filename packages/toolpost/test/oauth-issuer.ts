import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose'

export interface TokenChanges {
  /** `undefined` leaves a claim out. */
  claims?: Record<string, unknown>
  header?: { alg?: string; kid?: string; typ?: string }
  /** Of whoever signs; the issuer's newest if left out. */
  key?: CryptoKey | Uint8Array
}

/** An authorization server on the loopback, with real keys. */
export class TestIssuer {
  readonly server: Server
  /** What it was asked for, in order. */
  readonly asked: string[] = []
  /** Answers of its own, by path. */
  readonly answers = new Map<string, (url: string) => { status?: number; body?: string; headers?: object }>()
  readonly keys: { kid: string; alg: string; key: CryptoKey; jwk: JWK }[] = []
  url = ''

  constructor() {
    this.server = createServer((request, response) => {
      const path = request.url ?? ''
      this.asked.push(path)
      const { status = 200, body = '', headers = {} } = this.#answer(path)
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
    })
  }

  static async start(): Promise<TestIssuer> {
    const issuer = new TestIssuer()
    await issuer.listen()
    await issuer.addKey()
    return issuer
  }

  async listen(port = 0): Promise<void> {
    await new Promise<void>(resolve => this.server.listen(port, '127.0.0.1', () => resolve()))
    this.url = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`
  }

  /** A new key; the ones before it stay, unless they are taken away. */
  async addKey(alg = 'ES256'): Promise<string> {
    const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true })
    const kid = `key-${this.keys.length + 1}`
    this.keys.push({
      kid,
      alg,
      key: privateKey,
      jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' },
    })
    return kid
  }

  /** A valid token for `AUDIENCE`, but for the changes. */
  async token({ claims = {}, header = {}, key }: TokenChanges = {}): Promise<string> {
    const newest = this.keys.at(-1)
    if (!newest) throw new Error('the issuer has no key')
    const payload: JWTPayload = { iss: this.url, aud: AUDIENCE, sub: 'alice', exp: inSeconds(300), ...claims }
    return new SignJWT(payload)
      .setProtectedHeader({ alg: newest.alg, kid: newest.kid, typ: 'at+jwt', ...header })
      .sign(key ?? newest.key)
  }

  close(): Promise<void> {
    this.server.closeAllConnections()
    return new Promise(resolve => this.server.close(() => resolve()))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.server.listening) await this.close()
  }

  #answer(path: string) {
    const own = this.answers.get(path)
    if (own) return own(this.url)
    if (path === '/.well-known/oauth-authorization-server')
      return { body: JSON.stringify({ issuer: this.url, jwks_uri: `${this.url}/keys` }) }
    if (path === '/keys') return { body: JSON.stringify({ keys: this.keys.map(({ jwk }) => jwk) }) }
    return { status: 404 }
  }
}

export const AUDIENCE = 'http://127.0.0.1:4040/mcp'

export function inSeconds(seconds: number): number {
  return Math.floor(Date.now() / 1_000) + seconds
}
