import pg from 'pg'
import type { Logger } from 'toolpost'

const CONNECT_TIMEOUT_MS = 5_000
/** A query that takes longer has lost its server, behind a link that was cut for instance. */
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

/** The connections that everything but the link shares. */
export function openPool(url: URL, logger: Logger): pg.Pool {
  const pool = new pg.Pool({ ...connectionOf(url), max: POOL_SIZE })
  // Of connections that nobody is using: the next query opens a new one.
  pool.on('error', error => logger.debug({ error: error.message }, 'A connection to PostgreSQL was lost'))
  // A connection that breaks while it is used rejects its query; what it emits beside that tells nobody anything.
  pool.on('connect', client => client.on('error', () => {}))
  return pool
}
