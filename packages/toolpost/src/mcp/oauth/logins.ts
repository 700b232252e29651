import type { Logger } from '../../logging/logger.ts'
import { quietLogger } from '../../logging/quiet-logger.ts'
import { type HttpServerEntry, isHttp, type ServerEntry } from '../server-entry.ts'
import { LoginStore } from './login-store.ts'
import { ServerLogin } from './server-login.ts'

export interface LoginsOptions {
  /** `mcpServers`; only those over HTTP have logins. */
  servers: Readonly<Record<string, ServerEntry>>
  /** Where logins are saved; if left out, they are kept in memory only. */
  folder?: string | undefined
  logger?: Logger | undefined
}

/** The logins to the servers of a configuration. */
export class Logins {
  readonly #logins = new Map<string, ServerLogin>()
  readonly #options: Omit<LoginsOptions, 'servers'>

  constructor({ servers, ...options }: LoginsOptions) {
    this.#options = options
    for (const [name, entry] of Object.entries(servers)) this.put(name, entry)
  }

  /** Adds or replaces a server; ignores one that has no login. */
  put(name: string, entry: ServerEntry | undefined): void {
    this.#logins.delete(name)
    if (!entry || !isHttp(entry) || !usesOAuth(entry)) return
    const { folder, logger } = this.#options
    const store = new LoginStore(folder, `${name} ${entry.url}`, problem =>
      quietLogger(logger).child({ server: name }).warn({ problem }, 'Problem with a saved login'),
    )
    this.#logins.set(name, new ServerLogin(name, entry, store))
  }

  /** `undefined` for a server that is not over HTTP, or has credentials in its configuration. */
  of(server: string): ServerLogin | undefined {
    return this.#logins.get(server)
  }

  /** Finishes the login this answer belongs to; resolves to the name of its server. */
  async finish(answer: URLSearchParams): Promise<string> {
    const state = answer.get('state') ?? ''
    const login = [...this.#logins.values()].find(each => each.hasBegun(state))
    if (!login) throw new Error('This login was not started here, or has expired. Start again.')
    await login.finish(answer)
    return login.name
  }
}

/** A server with credentials in its configuration needs no login. */
function usesOAuth({ oauth, headers = {}, url }: HttpServerEntry): boolean {
  if (oauth !== undefined) return oauth !== false
  const { username, password } = new URL(url)
  const hasHeader = Object.keys(headers).some(name => name.toLowerCase() === 'authorization')
  return !hasHeader && !username && !password
}
