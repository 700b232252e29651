import type pg from 'pg'

const CONNECT_TIMEOUT_MS = 5_000
/** A query that takes longer has lost its server, for instance behind a cut link. */
const QUERY_TIMEOUT_MS = 30_000
/** The server drops a client that vanished without closing its connection (a cut link) within about six seconds. */
const SESSION = ['keepalives_idle=2', 'keepalives_interval=1', 'keepalives_count=4', 'user_timeout=6000']

/** How to connect to a database, under a name. */
export function connectionTo(url: URL, name = 'toolpost'): pg.ClientConfig {
  return {
    ...{ connectionString: url.href, application_name: name, keepAlive: true },
    ...{ connectionTimeoutMillis: CONNECT_TIMEOUT_MS, query_timeout: QUERY_TIMEOUT_MS },
    options: SESSION.map(setting => `-c tcp_${setting}`).join(' '),
  }
}

/** Why a database cannot be used, and what to do about it. If it is lasting, the configuration has to change. */
export class DatabaseProblem extends Error {
  readonly isLasting: boolean

  constructor(message: string, isLasting = true) {
    super(message)
    this.isLasting = isLasting
  }
}

const PASSING: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refuses connections; is PostgreSQL running there?',
  ETIMEDOUT: 'does not answer; check the address and the firewall',
  '53100': 'has no space left on its disk',
  '53300': 'has no free connections; raise max_connections or run fewer processes',
}
const LASTING: Readonly<Record<string, string>> = {
  ENOTFOUND: 'has an unknown host name; check the host in the URL',
  '28P01': 'rejects the password; check user and password in the URL',
  '28000': 'rejects this user; check the user in the URL and pg_hba.conf on the server',
  '3D000': 'has no such database; create it (createdb) or correct the name in the URL',
  '42501': 'does not let this user create tables; grant CREATE on the database',
}

/** Turns an error of the driver into a problem with the database at `place`, which must not include the password. */
export function problemOf(error: unknown, place: string): DatabaseProblem {
  if (error instanceof DatabaseProblem) return error
  const { code = '' } = ((error instanceof AggregateError ? error.errors[0] : error) ?? {}) as {
    code?: string
  }
  const text = LASTING[code] ?? PASSING[code] ?? `cannot be used: ${messageOf(error)}`
  return new DatabaseProblem(`PostgreSQL at ${place} ${text}`, code in LASTING)
}

export function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return messageOf(error.errors[0])
  return error instanceof Error ? error.message || error.name : String(error)
}
