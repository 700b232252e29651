import type { Pool } from 'pg'
import { ENGINE_SCHEMA } from '../database/schema.ts'
import { deleteRuns } from '../engine/engine.ts'
import type { Session } from '../session.ts'

const DEFAULT_DAYS = 30
const AT_ONCE = 5_000

/** Forgets runs that ended so many days ago, a slice at a time, so that nobody has to wait for it. */
export async function forgetOldRuns(session: Session, days = DEFAULT_DAYS): Promise<void> {
  let ids: string[]
  do {
    ids = await oldRuns(session.database, days)
    if (ids.length === 0) return
    await deleteRuns(ids)
    await session.approvals.forget(ids)
  } while (ids.length === AT_ONCE && session.isOpen)
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
