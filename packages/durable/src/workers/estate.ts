import type { Pool, PoolClient } from 'pg'
import { ENGINE_SCHEMA } from '../database/schema.ts'
import { unknownOutcome } from '../runs/kept-result.ts'

/** What became of the runs of a process that died. */
export interface Estate {
  /** Runs that had started and must not be started again. */
  ended: string[]
  /** The queues the others now wait in. */
  queues: string[]
}

/** Ends the runs of a process whose tools may have been invoked: their outcome is unknown. */
export async function endBegun(client: PoolClient, process: string): Promise<string[]> {
  const { rows } = await client.query<{ id: string; tool: string; intent: string }>(
    `SELECT s.workflow_uuid AS id, s.attributes->>'tool' AS tool, p.output AS intent
     FROM ${ENGINE_SCHEMA}.workflow_status s JOIN ${ENGINE_SCHEMA}.operation_outputs p USING (workflow_uuid)
     WHERE s.status = 'PENDING' AND s.executor_id = $1 AND p.function_name = 'intent' FOR UPDATE OF s`,
    [process],
  )
  const ids = rows.map(({ id }) => id)
  if (ids.length === 0) return ids
  // The way DBOS journals an end.
  await client.query(
    `UPDATE ${ENGINE_SCHEMA}.workflow_status SET status = 'SUCCESS', owner_xid = NULL, deduplication_id = NULL,
       updated_at = (extract(epoch FROM now()) * 1000)::bigint, completed_at = (extract(epoch FROM now()) * 1000)::bigint
     WHERE workflow_uuid = ANY($1)`,
    [ids],
  )
  const outputs = rows.map(({ tool, intent }) => JSON.stringify(unknownOutcome(tool, JSON.parse(intent))))
  await client.query(
    `INSERT INTO ${ENGINE_SCHEMA}.workflow_output (workflow_uuid, output)
     SELECT * FROM unnest($1::text[], $2::text[]) ON CONFLICT (workflow_uuid) DO UPDATE SET output = EXCLUDED.output`,
    [ids, outputs],
  )
  return ids
}

/** Requeues the other runs of a process, as DBOS recovery does, but with the partition key needed to find them. */
export async function requeue(client: PoolClient, process: string, queue: string): Promise<string[]> {
  const { rows } = await client.query<{ queue_name: string }>(
    `UPDATE ${ENGINE_SCHEMA}.workflow_status SET status = 'ENQUEUED', owner_xid = NULL, started_at_epoch_ms = NULL,
       updated_at = (extract(epoch FROM now()) * 1000)::bigint, queue_name = COALESCE(queue_name, $2),
       queue_partition_key = COALESCE(queue_partition_key, attributes->>'tool')
     WHERE status = 'PENDING' AND executor_id = $1 RETURNING queue_name`,
    [process, queue],
  )
  return [...new Set(rows.map(row => row.queue_name))]
}

export async function inTransaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
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
