import { removeFromLogs } from '../../logging/redact.ts'
import { LOGIN_TTL_MS, MAX_PENDING_LOGINS } from './limits.ts'
import type { LoginAttempt } from './login-attempt.ts'

/** Unfinished logins, kept for a while; each answer is accepted only once. */
export class PendingLogins {
  readonly #attempts = new Map<string, { attempt: LoginAttempt; until: number }>()

  add(attempt: LoginAttempt): void {
    removeFromLogs([attempt.id])
    this.#attempts.set(attempt.id, { attempt, until: Date.now() + LOGIN_TTL_MS })
    const [oldest] = this.#attempts.keys()
    if (this.#attempts.size > MAX_PENDING_LOGINS && oldest !== undefined) this.#attempts.delete(oldest)
  }

  has(state: string): boolean {
    return (this.#attempts.get(state)?.until ?? 0) > Date.now()
  }

  take(state: string): LoginAttempt {
    const { attempt } = this.#attempts.get(state) ?? {}
    if (!attempt || !this.has(state)) throw new Error('this login was not started here, or has expired')
    this.#attempts.delete(state)
    return attempt
  }
}
