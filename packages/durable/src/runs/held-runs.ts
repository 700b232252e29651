import type { Pool } from 'pg'
import { ACTIVE, ENGINE_SCHEMA } from '../database/schema.ts'

/*
 * Runs that wait for a person occupy no worker: DBOS holds them as delayed indefinitely until they are released.
 */

/** Takes a run back from the process executing it; `false` if that process no longer has it. */
export async function holdRun(
  pool: Pool,
  { id, process, queue }: { id: string; process: string; queue: string },
): Promise<boolean> {
  const { rowCount } = await pool.query(
    `UPDATE ${ENGINE_SCHEMA}.workflow_status SET status = 'DELAYED', owner_xid = NULL, started_at_epoch_ms = NULL,
       delay_until_epoch_ms = 4102444800000, recovery_attempts = 0,
       queue_name = COALESCE(queue_name, $3), queue_partition_key = COALESCE(queue_partition_key, attributes->>'tool')
     WHERE workflow_uuid = $1 AND executor_id = $2 AND status = 'PENDING'`,
    [id, process, queue],
  )
  return rowCount === 1
}

/** Releases held runs. Resolves to the queues they now wait in. */
export async function letGo(pool: Pool, ids: readonly string[]): Promise<string[]> {
  const { rows } = await pool.query<{ queue_name: string }>(
    `UPDATE ${ENGINE_SCHEMA}.workflow_status SET status = 'ENQUEUED', delay_until_epoch_ms = NULL
     WHERE workflow_uuid = ANY($1) AND status = 'DELAYED' RETURNING queue_name`,
    [ids],
  )
  return [...new Set(rows.map(row => row.queue_name))]
}

/** Whether a run exists and has not ended. */
export async function isActive(pool: Pool, id: string): Promise<boolean> {
  const { rowCount } = await pool.query(
    `SELECT FROM ${ENGINE_SCHEMA}.workflow_status
     WHERE workflow_uuid = $1 AND status IN ${ACTIVE}`,
    [id],
  )
  return rowCount === 1
}
