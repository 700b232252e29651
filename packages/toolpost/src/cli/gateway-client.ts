import { DEFAULT_PORT, type ToolpostConfig } from '../config/config.ts'
import { UsageError } from './exit-codes.ts'

const TIMEOUT_MS = 10_000

/** Talks to a running `toolpost up`, by default at the address in the configuration. */
export class GatewayClient {
  readonly #url: string
  readonly #token: string | undefined

  constructor({ gateway }: ToolpostConfig, { url, token }: { url?: string; token?: string }) {
    const { host = '127.0.0.1', port = DEFAULT_PORT } = gateway ?? {}
    this.#url = (url ?? `http://${reachable(host)}:${port}`).replace(/\/$/, '')
    this.#token = token ?? (process.env.TOOLPOST_TOKEN || undefined)
  }

  get(path: string): Promise<unknown> {
    return this.#ask(path, {})
  }

  post(path: string, body: object): Promise<unknown> {
    return this.#ask(path, { method: 'POST', body: JSON.stringify(body) })
  }

  /** Rejects with a UsageError that says what is wrong with the address, the token or the request. */
  async #ask(path: string, request: RequestInit): Promise<unknown> {
    const headers: Record<string, string> = { 'content-type': 'application/json' }
    if (this.#token !== undefined) headers.authorization = `Bearer ${this.#token}`
    const response = await this.#fetch(path, { ...request, headers })
    const answer = (await response.json().catch(() => ({}))) as { error?: string }
    if (response.ok) return answer
    throw new UsageError(answer.error ?? `${this.#url} answered ${response.status}`)
  }

  async #fetch(path: string, request: RequestInit): Promise<Response> {
    try {
      return await fetch(`${this.#url}${path}`, { ...request, signal: AbortSignal.timeout(TIMEOUT_MS) })
    } catch (error) {
      const problem = `No gateway at ${this.#url}: start it with \`toolpost up\`, or give its address with --url`
      throw new UsageError(problem, { cause: error })
    }
  }
}

/** A wildcard address cannot be connected to. */
function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1'
  return host.includes(':') ? `[${host}]` : host
}
