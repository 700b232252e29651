import { createHash, randomBytes } from 'node:crypto'
import type { FakeOAuthOptions } from './fake-oauth.ts'

interface Grant {
  clientId: string
  scope: string
  resource: string
}

interface Code extends Grant {
  challenge: string
  redirectUri: string
}

const HOUR_S = 3_600

/** What an authorization server has issued, and what was done with it. */
export class Grants {
  readonly asked: string[] = []
  readonly calls: string[] = []
  readonly secrets = new Set<string>()
  readonly clients = new Map<string, { secret: string; redirectUris: string[] | undefined }>()
  readonly #codes = new Map<string, Code>()
  readonly #access = new Map<string, Grant & { until: number }>()
  readonly #refresh = new Map<string, Grant>()
  readonly #options: FakeOAuthOptions
  lastScope: string | undefined
  slowBegan: Promise<void>
  released: Promise<void>
  noteSlow: () => void = () => {}
  release: () => void = () => {}

  constructor(options: FakeOAuthOptions) {
    this.#options = options
    for (const [id, secret] of Object.entries(options.clients ?? {}))
      this.clients.set(id, { secret, redirectUris: undefined })
    this.slowBegan = new Promise(resolve => {
      this.noteSlow = resolve
    })
    this.released = new Promise(resolve => {
      this.release = resolve
    })
  }

  #secret(kind: string): string {
    const secret = `${kind}-${randomBytes(24).toString('base64url')}`
    this.secrets.add(secret)
    return secret
  }

  register(redirectUris: string[]): { id: string; secret: string } {
    const [id, secret] = [`client-${randomBytes(4).toString('hex')}`, this.#secret('clientsecret')]
    this.clients.set(id, { secret, redirectUris })
    return { id, secret }
  }

  code(code: Code): string {
    this.lastScope = code.scope
    const text = this.#secret('code')
    this.#codes.set(text, code)
    return text
  }

  /** A code works once, with the verifier that matches its challenge. */
  redeem(code: string, verifier: string, redirectUri: string): Grant | undefined {
    const known = this.#codes.get(code)
    this.#codes.delete(code)
    const challenge = createHash('sha256').update(verifier).digest('base64url')
    return known?.challenge === challenge && known.redirectUri === redirectUri ? known : undefined
  }

  /** A refresh token works once. */
  rotate(token: string): Grant | undefined {
    const grant = this.#refresh.get(token)
    this.#refresh.delete(token)
    return grant
  }

  tokens(grant: Grant, canRefresh: boolean): object {
    const { noRefresh = false } = this.#options
    const access = this.#secret('access')
    this.#access.set(access, { ...grant, until: Date.now() + HOUR_S * 1_000 })
    const refresh = canRefresh && !noRefresh ? this.#secret('refresh') : undefined
    if (refresh !== undefined) this.#refresh.set(refresh, grant)
    return {
      access_token: access,
      token_type: 'Bearer',
      expires_in: HOUR_S,
      ...(grant.scope !== '' && { scope: grant.scope }),
      ...(refresh !== undefined && { refresh_token: refresh }),
    }
  }

  /** The grant of an access token, if it is valid. */
  of(access: string): Grant | undefined {
    const grant = this.#access.get(access)
    return grant && grant.until > Date.now() ? grant : undefined
  }

  expire(): void {
    this.#access.clear()
  }

  revokeAll(): void {
    this.#access.clear()
    this.#refresh.clear()
  }
}
