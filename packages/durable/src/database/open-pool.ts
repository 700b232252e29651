import pg from 'pg'
import type { Logger } from 'toolpost'

const CONNECT_TIMEOUT_MS = 5_000
/** A query that takes longer has lost its server, for instance behind a cut link. */
const QUERY_TIMEOUT_MS = 30_000
const KEEP_ALIVE_AFTER_MS = 5_000
const POOL_SIZE = 10

export function connectionOf(url: URL): pg.ClientConfig {
  return {
    connectionString: url.href,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
    application_name: 'toolpost',
  }
}

/** The connections shared by everything but the link. */
export function openPool(url: URL, logger: Logger): pg.Pool {
  const pool = new pg.Pool({ ...connectionOf(url), max: POOL_SIZE })
  // Emitted for idle connections only: the next query opens a new one.
  pool.on('error', error => logger.debug({ error: error.message }, 'A connection to PostgreSQL was lost'))
  // A connection that breaks while in use rejects its query; the event it emits as well adds nothing.
  pool.on('connect', client => client.on('error', () => {}))
  return pool
}
