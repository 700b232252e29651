import type { Pool } from 'pg'
import type { Connection } from '../connection.ts'
import { ENGINE_SCHEMA } from '../database/schema.ts'
import { deleteRuns } from '../engine/engine.ts'

const DEFAULT_DAYS = 30
const AT_ONCE = 5_000

/** Deletes runs that ended more than `days` days ago, in batches, so that nothing is blocked for long. */
export async function forgetOldRuns(connection: Connection, days = DEFAULT_DAYS): Promise<void> {
  let ids: string[]
  do {
    ids = await oldRuns(connection.database, days)
    if (ids.length === 0) return
    await deleteRuns(ids)
    await connection.approvals.forget(ids)
  } while (ids.length === AT_ONCE && connection.isOpen)
}

/** By the database's clock. */
async function oldRuns(pool: Pool, days: number): Promise<string[]> {
  const { rows } = await pool.query<{ workflow_uuid: string }>(
    `SELECT workflow_uuid FROM ${ENGINE_SCHEMA}.workflow_status
     WHERE completed_at < (extract(epoch FROM now()) * 1000)::bigint - $1::bigint * 86400000 LIMIT ${AT_ONCE}`,
    [days],
  )
  return rows.map(row => row.workflow_uuid)
}
