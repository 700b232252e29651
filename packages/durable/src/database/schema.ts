import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool, PoolClient } from 'pg'
import { DatabaseProblem } from './database-problem.ts'

/** The version this release reads and writes. A database with a higher one belongs to a newer release. */
const SCHEMA_VERSION = 1
/** The schema of our own tables; those of DBOS are in `ENGINE_SCHEMA`. */
export const SCHEMA = 'toolpost'
export const ENGINE_SCHEMA = 'toolpost_engine'
/** The engine's states of a run that has not ended. */
export const ACTIVE = `('PENDING', 'ENQUEUED', 'DELAYED')`

/** DBOS needs `gen_random_uuid` and `xid8`. */
const OLDEST_SERVER = 130_000
/** The first number of all our advisory locks. */
export const LOCKS = 0x54_4f_4f_4c
const STARTING_LOCK = 0
const STARTING_WITHIN_MS = 60_000
const LOOK_EVERY_MS = 20

const TABLES = `
  CREATE SCHEMA IF NOT EXISTS ${SCHEMA};
  CREATE TABLE IF NOT EXISTS ${SCHEMA}.meta (version integer NOT NULL);
  CREATE TABLE IF NOT EXISTS ${SCHEMA}.workers (
    process text PRIMARY KEY,
    id text NOT NULL,
    pool text NOT NULL,
    role text NOT NULL,
    host text NOT NULL,
    pid integer NOT NULL,
    lock_key integer NOT NULL UNIQUE,
    started_at timestamptz NOT NULL DEFAULT now(),
    seen_at timestamptz NOT NULL DEFAULT now(),
    gone_at timestamptz
  );
  CREATE TABLE IF NOT EXISTS ${SCHEMA}.tools (
    process text NOT NULL REFERENCES ${SCHEMA}.workers ON DELETE CASCADE,
    name text NOT NULL,
    queue text NOT NULL,
    definition jsonb NOT NULL,
    PRIMARY KEY (process, name)
  );
  CREATE TABLE IF NOT EXISTS ${SCHEMA}.approvals (
    id text PRIMARY KEY,
    run_id text NOT NULL UNIQUE,
    approval jsonb NOT NULL,
    asked_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    decision text,
    decided_by text,
    reason text
  );
  CREATE INDEX IF NOT EXISTS approvals_waiting ON ${SCHEMA}.approvals (expires_at) WHERE decision IS NULL;
`

/**
 * Creates our tables if necessary, and runs `start` while no other process is starting. Throws a `DatabaseProblem`, with
 * nothing changed, if the server is too old or the database belongs to a newer release.
 */
export async function prepareDatabase(pool: Pool, start: () => Promise<void>): Promise<void> {
  const client = await pool.connect()
  try {
    await checkServer(client)
    await takeStartingLock(client)
    try {
      await checkVersion(client)
      await client.query(TABLES)
      await client.query(
        `INSERT INTO ${SCHEMA}.meta SELECT $1 WHERE NOT EXISTS (SELECT FROM ${SCHEMA}.meta)`,
        [SCHEMA_VERSION],
      )
      await start()
    } finally {
      await client.query('SELECT pg_advisory_unlock($1, $2)', [LOCKS, STARTING_LOCK])
    }
    client.release()
  } catch (error) {
    client.release(true)
    throw error
  }
}

/** Polls: a blocking query would hold up the index creation of the process that has the lock, and so itself. */
async function takeStartingLock(client: PoolClient): Promise<void> {
  for (let waitedMs = 0; waitedMs < STARTING_WITHIN_MS; waitedMs += LOOK_EVERY_MS) {
    const { rows } = await client.query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1, $2) AS taken', [
      LOCKS,
      STARTING_LOCK,
    ])
    if (rows[0]?.taken) return
    await sleep(LOOK_EVERY_MS)
  }
  throw new DatabaseProblem('Another process has been preparing the database for over a minute', {
    isPassing: true,
  })
}

async function checkServer(client: PoolClient): Promise<void> {
  const { rows } = await client.query<{ number: string; version: string }>(
    `SELECT current_setting('server_version_num') AS number, current_setting('server_version') AS version`,
  )
  const problem = rows[0] && serverProblem(rows[0])
  if (problem) throw new DatabaseProblem(problem)
}

/** Why a server cannot be used, given its `server_version_num` and `server_version`. */
export function serverProblem({ number, version }: { number: string; version: string }): string | undefined {
  if (Number(number) >= OLDEST_SERVER) return undefined
  return `PostgreSQL ${version} is too old: durable calls need 13 or newer. Upgrade the server, or set "durable": true to use an embedded one`
}

async function checkVersion(client: PoolClient): Promise<void> {
  const { rows: known } = await client.query<{ found: string | null }>(
    `SELECT to_regclass('${SCHEMA}.meta')::text AS found`,
  )
  if (!known[0]?.found) return
  const { rows } = await client.query<{ version: number }>(`SELECT version FROM ${SCHEMA}.meta`)
  const version = rows[0]?.version ?? 0
  if (version <= SCHEMA_VERSION) return
  throw new DatabaseProblem(
    `The database belongs to a newer Toolpost (its schema version is ${version}, this release supports ${SCHEMA_VERSION}). Upgrade Toolpost here, or use another database`,
  )
}
