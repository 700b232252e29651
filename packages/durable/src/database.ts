import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'

const CONNECT_TIMEOUT_MS = 5_000
/** A query that takes longer has lost its server, for instance behind a cut link. */
const QUERY_TIMEOUT_MS = 30_000
const POOL_SIZE = 10
const FIRST_RETRY_MS = 50
const LONGEST_RETRY_MS = 500
/** The first number of all our advisory locks; the second one is a process, or 0 for recovery. */
export const LOCKS = 0x54_4f_4f_4c
export const CHANNEL = 'toolpost_durable'

/** Makes the server drop a client that vanished without closing its connection (a cut link) within about six seconds. */
const SESSION = {
  tcp_keepalives_idle: 2,
  tcp_keepalives_interval: 1,
  tcp_keepalives_count: 4,
  tcp_user_timeout: 6_000,
}

/** Why a database cannot be used, and what to do about it. */
export class DatabaseProblem extends Error {
  /** Trying again is pointless: the configuration has to change. */
  readonly isLasting: boolean

  constructor(message: string, { isLasting = true, cause }: { isLasting?: boolean; cause?: unknown } = {}) {
    super(message, { cause })
    this.isLasting = isLasting
  }
}

const KNOWN: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refuses connections; is PostgreSQL running there?',
  ECONNRESET: 'closed the connection',
  ETIMEDOUT: 'does not answer; check the address and the firewall',
  EHOSTUNREACH: 'cannot be reached; check the address and the network',
  ENETUNREACH: 'cannot be reached; check the network',
  EAI_AGAIN: 'has a host name that cannot be resolved right now; check the network',
  ENOTFOUND: 'has an unknown host name; check the host in the URL',
  ENOENT: 'has no socket at that path; is PostgreSQL running there?',
  '28P01': 'rejects the password; check user and password in the URL',
  '28000': 'rejects this user; check the user in the URL and pg_hba.conf on the server',
  '3D000': 'has no such database; create it (createdb) or correct the name in the URL',
  '42501': 'does not let this user create tables; grant CREATE on the database',
  '53100': 'has no space left on its disk',
  '53300': 'has no free connections; raise max_connections or run fewer processes',
  '57P01': 'was shut down',
  '57P02': 'crashed and is restarting',
  '57P03': 'is still starting',
}

/** The configuration has to change, or the server's. */
const LASTING = ['ENOTFOUND', '28P01', '28000', '3D000', '42501']

/** Turns an error of the driver into a problem with the database at `place`, which is shown and must not include the password. */
export function problemOf(error: unknown, place: string): DatabaseProblem {
  if (error instanceof DatabaseProblem) return error
  const code = codeOf(error)
  const text = KNOWN[code] ?? `cannot be used: ${messageOf(error)}`
  return new DatabaseProblem(`PostgreSQL at ${place} ${text}`, {
    isLasting: LASTING.includes(code),
    cause: error,
  })
}

/** The code of an error, or of the first one it aggregates or was caused by. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return ''
  if ('code' in error && typeof error.code === 'string' && KNOWN[error.code]) return error.code
  return codeOf(error instanceof AggregateError ? error.errors[0] : error.cause)
}

export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return messageOf(error.errors[0])
  return error instanceof Error ? error.message || error.name : String(error)
}

/** Parses the URL of a database; throws a `DatabaseProblem` that says what is expected. */
export function checkedUrl(text: string): URL {
  const expected = 'expected postgresql://user:password@host:5432/database'
  if (!URL.canParse(text)) throw new DatabaseProblem(`The database URL is not a valid URL; ${expected}`)
  const url = new URL(text)
  if (url.protocol !== 'postgres:' && url.protocol !== 'postgresql:')
    throw new DatabaseProblem(`The database URL begins with '${url.protocol}//'; ${expected}`)
  if (url.pathname.length < 2) throw new DatabaseProblem(`The database URL has no database name; ${expected}`)
  return url
}

/** Host and database name, without user and password. */
export function placeOf(url: URL): string {
  return `${url.host || 'the local socket'}${url.pathname}`
}

function connectionOf(url: URL): pg.ClientConfig {
  return {
    connectionString: url.href,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    keepAlive: true,
    application_name: 'toolpost',
    options: Object.entries(SESSION)
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(' '),
  }
}

/** The connections of DBOS and our own queries. */
export function openPool(url: URL): pg.Pool {
  const pool = new pg.Pool({ ...connectionOf(url), max: POOL_SIZE })
  // A connection that breaks while in use rejects its query, an idle one is replaced: the events add nothing.
  pool.on('error', () => {})
  pool.on('connect', client => client.on('error', () => {}))
  return pool
}

/** Runs `work` in a transaction. */
export async function transaction<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  try {
    await client.query('BEGIN')
    const result = await work(client)
    await client.query('COMMIT')
    client.release()
    return result
  } catch (error) {
    // Closes the connection, which rolls the transaction back.
    client.release(true)
    throw error
  }
}

/** Runs `work` while no other process does, on any machine. It polls: waiting for the lock would hold up index creation. */
export async function alone<T>(pool: pg.Pool, work: () => Promise<T>): Promise<T> {
  const client = await pool.connect()
  try {
    for (let isFree = false; !isFree; ) {
      const { rows } = await client.query('SELECT pg_try_advisory_lock($1, 0) AS free', [LOCKS])
      isFree = rows[0].free
      if (!isFree) await sleep(FIRST_RETRY_MS)
    }
    return await work()
  } finally {
    // Closing the connection frees the lock.
    client.release(true)
  }
}

interface LinkOptions {
  url: URL
  lockKey: number
  /** Runs before every attempt to reconnect. */
  beforeReconnect?: (() => Promise<void>) | undefined
  /** Connected, and alive for the others: the lock is held. */
  onOpen(): Promise<void>
  onLost(reason: string): void
  onNotice(payload: string): void
}

/**
 * The one connection that proves this process is alive: it holds an advisory lock, which PostgreSQL frees when the
 * process dies, and listens for notices from the others. Once open, it reconnects by itself.
 */
export class Link {
  readonly #options: LinkOptions
  #client: pg.Client | undefined
  #isClosed = false
  isOpen = false

  constructor(options: LinkOptions) {
    this.#options = options
  }

  /** Connects once; rejects if that fails. */
  async open(): Promise<void> {
    const { url, lockKey, onOpen, onNotice } = this.#options
    const client = new pg.Client(connectionOf(url))
    client.on('error', error => this.#lose(client, messageOf(error)))
    client.on('end', () => this.#lose(client, 'the connection was closed'))
    client.on('notification', ({ payload }) => onNotice(payload ?? ''))
    this.#client = client
    try {
      await client.connect()
      await client.query('SELECT pg_advisory_lock($1, $2)', [LOCKS, lockKey])
      await client.query(`LISTEN ${CHANNEL}`)
      await onOpen()
      if (this.#isClosed || this.#client !== client) throw new Error('the connection was lost')
      this.isOpen = true
    } catch (error) {
      this.#client = undefined
      void client.end().catch(() => {})
      throw error
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.isOpen = false
    const client = this.#client
    this.#client = undefined
    await client?.end().catch(() => {})
  }

  #lose(client: pg.Client, reason: string): void {
    if (client !== this.#client) return
    this.#client = undefined
    if (!this.isOpen) return
    this.isOpen = false
    void client.end().catch(() => {})
    this.#options.onLost(reason)
    void this.#reopen()
  }

  async #reopen(): Promise<void> {
    for (let delayMs = FIRST_RETRY_MS; !this.#isClosed; delayMs = Math.min(delayMs * 2, LONGEST_RETRY_MS)) {
      await sleep(delayMs)
      try {
        if (!this.#isClosed) await this.#options.beforeReconnect?.()
        if (!this.#isClosed) return await this.open()
      } catch {
        // Not back yet.
      }
    }
  }
}
