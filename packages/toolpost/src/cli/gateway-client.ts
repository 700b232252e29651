import type { ToolpostConfig } from '../project/config.ts'
import { digestOf, readToken, runningGateway, stateFolder } from '../project/local-state.ts'
import type { Project } from '../project/project.ts'
import { isLoopback } from '../runtime/loopback.ts'
import { UsageError } from './exit-codes.ts'

const TIMEOUT_MS = 10_000

export interface GatewayFlags {
  url?: string
  token?: string
}

/** The token that somebody chose, if anybody did; `false` if they chose to have none. */
export function chosenToken(
  { gateway = {} }: ToolpostConfig,
  { token }: GatewayFlags,
): string | false | undefined {
  return token ?? (process.env.TOOLPOST_TOKEN || undefined) ?? gateway.token
}

/** Talks to the `toolpost up` of this folder, or to the gateway at `--url`. */
export class GatewayClient {
  readonly #url: string
  readonly #token: string | undefined

  /** Throws a UsageError if there is no such gateway. */
  constructor({ config, file }: Pick<Project, 'config' | 'file'>, flags: GatewayFlags) {
    const folder = stateFolder(file)
    const chosen = chosenToken(config, flags) || undefined
    const own = readToken(folder)
    if (flags.url === undefined) {
      const running = runningGateway(folder)
      if (!running)
        throw new UsageError('No gateway runs in this folder: start it with `toolpost up`, or give its --url')
      this.#url = running.url.replace(/\/$/, '')
      // A token is sent only to the gateway that it belongs to: the note may come from somebody else.
      this.#token = [chosen, own].find(token => token && digestOf(token) === running.tokenDigest)
      if (running.tokenDigest && !this.#token)
        throw new UsageError('The gateway in this folder has another token: give it with --token')
    } else {
      this.#url = urlOf(flags.url)
      this.#token = chosen ?? (isLoopback(new URL(this.#url).hostname) ? own : undefined)
    }
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
      return await fetch(`${this.#url}${path}`, {
        ...request,
        redirect: 'error',
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
    } catch (error) {
      const problem = `No gateway at ${this.#url}: start it with \`toolpost up\`, or give its address with --url`
      throw new UsageError(problem, { cause: error })
    }
  }
}

function urlOf(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text.replace(/\/$/, '')
  throw new UsageError(`--url expects an http or https URL, got '${text}'`)
}
