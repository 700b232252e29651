import { forgetSecrets, removeFromLogs } from '../../logging/redact.ts'
import { REMEMBERED_LOGINS } from './limits.ts'
import type { Login } from './login.ts'

/** Keeps the secrets of the latest logins out of logs; older ones are worthless, and would only pile up. */
export class RecentSecrets {
  readonly #known: string[][] = []

  add({ tokens, client }: Login): void {
    const { access_token = '', refresh_token = '', id_token = '' } = tokens ?? {}
    const secrets = [access_token, refresh_token, id_token, client?.client_secret ?? '']
    if (this.#known.at(-1)?.join() === secrets.join()) return
    this.#known.push(secrets)
    if (this.#known.length > REMEMBERED_LOGINS) forgetSecrets(this.#known.shift() ?? [])
    removeFromLogs(this.#known.flat())
  }
}
