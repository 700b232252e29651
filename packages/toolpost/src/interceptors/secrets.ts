import type { Interceptor } from '../executor/chain.ts'
import { denied } from './refuse.ts'

/** A value that only its owner may receive. */
export interface OwnedSecret {
  /** Where it is configured, such as `mcpServers.github.env.GITHUB_TOKEN`. */
  key: string
  value: string
  /** The server it belongs to; left out if it belongs to none. */
  server?: string | undefined
}

/** Shorter values also occur by chance. */
const MIN_LENGTH = 8

/** Denies calls with a configured secret in the arguments, unless it is a secret of the server that is called. */
export function secretGuard(secrets: readonly OwnedSecret[]): Interceptor {
  const guarded = secrets.filter(({ value }) => value.length >= MIN_LENGTH)
  return function secretGuard(call, next) {
    if (guarded.length === 0 || call.failure || call.server === undefined) return next()
    // The same value may be configured for this server too.
    const own = guarded.filter(({ server }) => server === call.server).map(({ value }) => value)
    const foreign = guarded.filter(({ value }) => !own.includes(value))
    const found = foreign.find(({ value }) => contains(call.args, value))
    if (!found) return next()
    const reason = `its arguments contain the secret ${found.key}, which '${call.server}' must not receive`
    return Promise.resolve(denied(call, reason))
  }
}

function contains(value: unknown, secret: string): boolean {
  if (typeof value === 'string') return value.includes(secret)
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([key, part]) => key.includes(secret) || contains(part, secret))
}
