import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'

const CONNECT_TIMEOUT_MS = 5_000
/** A query that takes longer has lost its server, for instance behind a cut link. */
const QUERY_TIMEOUT_MS = 30_000
const POOL_SIZE = 10
const LOCK_RETRY_MS = 50
/** The first number of all our advisory locks; the second one is a process, or 0 for starting up. */
export const LOCKS = 0x54_4f_4f_4c
export const CHANNEL = 'toolpost_durable'
/** The server drops a client that vanished without closing its connection (a cut link) within about six seconds. */
const SESSION = ['keepalives_idle=2', 'keepalives_interval=1', 'keepalives_count=4', 'user_timeout=6000']

/** Why a database cannot be used, and what to do about it. If it is lasting, the configuration has to change. */
export class DatabaseProblem extends Error {
  readonly isLasting: boolean

  constructor(message: string, { isLasting = true }: { isLasting?: boolean } = {}) {
    super(message)
    this.isLasting = isLasting
  }
}

const KNOWN: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refuses connections; is PostgreSQL running there?',
  ETIMEDOUT: 'does not answer; check the address and the firewall',
  ENOTFOUND: 'has an unknown host name; check the host in the URL',
  '28P01': 'rejects the password; check user and password in the URL',
  '28000': 'rejects this user; check the user in the URL and pg_hba.conf on the server',
  '3D000': 'has no such database; create it (createdb) or correct the name in the URL',
  '42501': 'does not let this user create tables; grant CREATE on the database',
  '53100': 'has no space left on its disk',
  '53300': 'has no free connections; raise max_connections or run fewer processes',
}
const LASTING = ['ENOTFOUND', '28P01', '28000', '3D000', '42501']

/** Turns an error of the driver into a problem with the database at `place`, which must not include the password. */
export function problemOf(error: unknown, place: string): DatabaseProblem {
  if (error instanceof DatabaseProblem) return error
  const first = error instanceof AggregateError ? error.errors[0] : error
  const { code = '' } = (first ?? {}) as { code?: string }
  const text = KNOWN[code] ?? `cannot be used: ${messageOf(error)}`
  return new DatabaseProblem(`PostgreSQL at ${place} ${text}`, { isLasting: LASTING.includes(code) })
}

export function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return messageOf(error.errors[0])
  return error instanceof Error ? error.message || error.name : String(error)
}

/** Parses the URL of a database; throws a `DatabaseProblem` that says what is expected. */
export function checkedUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const begin = url && !/^postgres(ql)?:$/.test(url.protocol) ? `begins with '${url.protocol}//'` : undefined
  const problem = url ? (begin ?? (url.pathname.length < 2 && 'has no database name')) : 'is not a valid URL'
  if (url && !problem) return url
  throw new DatabaseProblem(
    `The database URL ${problem}; expected postgresql://user:password@host:5432/database`,
  )
}

/** How to connect to a database. */
export function connectionTo(url: URL): pg.ClientConfig {
  return {
    ...{ connectionString: url.href, application_name: 'toolpost', keepAlive: true },
    ...{ connectionTimeoutMillis: CONNECT_TIMEOUT_MS, query_timeout: QUERY_TIMEOUT_MS },
    options: SESSION.map(setting => `-c tcp_${setting}`).join(' '),
  }
}

/** The connections of DBOS and our own queries. */
export function openPool(url: URL): pg.Pool {
  const pool = new pg.Pool({ ...connectionTo(url), max: POOL_SIZE })
  // A connection that breaks while in use rejects its query, an idle one is replaced: the events add nothing.
  pool.on('error', () => {})
  pool.on('connect', client => client.on('error', () => {}))
  return pool
}

/** Runs `work` while no other process does, on any machine. It polls: waiting for the lock would hold up index creation. */
export async function alone<T>(pool: pg.Pool, work: () => Promise<T>): Promise<T> {
  const client = await pool.connect()
  try {
    const isFree = () => client.query('SELECT pg_try_advisory_lock($1, 0) AS free', [LOCKS])
    while (!(await isFree()).rows[0].free) await sleep(LOCK_RETRY_MS)
    return await work()
  } finally {
    // Closing the connection frees the lock.
    client.release(true)
  }
}
