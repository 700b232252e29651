import type { Pool } from 'pg'
import type { DurableWorker, OfferedTool, PublishedTool } from 'toolpost/project'
import { ENGINE_SCHEMA, LOCKS, SCHEMA } from '../database/schema.ts'
import { type Estate, endBegun, inTransaction, requeue } from './estate.ts'
import type { Identity } from './identity.ts'

interface WorkerRow {
  process: string
  id: string
  pool: string
  role: 'worker' | 'gateway'
  host: string
  pid: number
  lock_key: number
  started_at: Date
  seen_at: Date
  gone_at: Date | null
  live: boolean
}

/** A tool of a pool, and who runs it. */
export interface Offer {
  pool: string
  tool: PublishedTool
  queue: string
  /** Live ones. */
  processes: string[]
  goneSince?: string | undefined
}

/** A process that no longer holds its lock. */
export interface Missing {
  process: string
  lockKey: number
  pool: string
}

/** A process is live while it holds its lock, which PostgreSQL frees when it dies. No clocks are compared. */
const WORKERS = `
  SELECT w.*, l.objid IS NOT NULL AS live
  FROM ${SCHEMA}.workers w LEFT JOIN pg_locks l
    ON l.locktype = 'advisory' AND l.granted AND l.classid::bigint = ${LOCKS} AND l.objsubid = 2
    AND l.objid::bigint = w.lock_key
    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())`

const FORGET_AFTER = `interval '7 days'`

/** All processes that share the database, and their tools. */
export class Roster {
  readonly #pool: Pool
  readonly #self: Identity
  #offers = new Map<string, Offer>()
  #picture = ''

  constructor(pool: Pool, self: Identity) {
    this.#pool = pool
    this.#self = self
  }

  /** Registers this process, which already holds its lock. */
  async register(): Promise<void> {
    const { process, id, pool, role, host, pid, lockKey } = this.#self
    await this.#pool.query(
      `INSERT INTO ${SCHEMA}.workers (process, id, pool, role, host, pid, lock_key) VALUES ($1, $2, $3, $4, $5, $6, $7)
       ON CONFLICT (process) DO UPDATE SET gone_at = NULL, seen_at = now()`,
      [process, id, pool, role, host, pid, lockKey],
    )
    // Earlier runs of this worker, whose calls were taken over, and processes gone for long.
    await this.#pool.query(
      `DELETE FROM ${SCHEMA}.workers WHERE gone_at IS NOT NULL AND process <> $1
       AND (id = $2 OR gone_at < now() - ${FORGET_AFTER})`,
      [process, id],
    )
  }

  /** Replaces what this process offers. */
  async publish(tools: readonly { tool: PublishedTool; queue: string }[]): Promise<void> {
    const { process } = this.#self
    await this.#pool.query(
      `WITH published AS (
         INSERT INTO ${SCHEMA}.tools (process, name, queue, definition)
         SELECT $1, t.name, t.queue, t.definition::jsonb FROM unnest($2::text[], $3::text[], $4::text[]) AS t(name, queue, definition)
         ON CONFLICT (process, name) DO UPDATE SET queue = EXCLUDED.queue, definition = EXCLUDED.definition)
       DELETE FROM ${SCHEMA}.tools WHERE process = $1 AND name <> ALL($2)`,
      [
        process,
        tools.map(({ tool }) => tool.name),
        tools.map(({ queue }) => queue),
        tools.map(({ tool }) => JSON.stringify(tool)),
      ],
    )
  }

  async sayAlive(): Promise<void> {
    await this.#pool.query(`UPDATE ${SCHEMA}.workers SET seen_at = now() WHERE process = $1`, [
      this.#self.process,
    ])
  }

  /** Registered processes that hold no lock; none while the server has only just started. */
  async missing(graceMs: number): Promise<{ missing: Missing[]; picture: string }> {
    const { rows } = await this.#pool.query<WorkerRow & { settled: boolean }>(
      `SELECT x.*, now() - pg_postmaster_start_time() > $1 * interval '1 millisecond' AS settled
       FROM (${WORKERS}) x WHERE gone_at IS NULL`,
      [graceMs],
    )
    const missing = rows.filter(({ live, settled }) => settled && !live)
    return {
      missing: missing.map(({ process, lock_key, pool }) => ({ process, lockKey: lock_key, pool })),
      picture: rows
        .map(({ process, live }) => `${process} ${live}`)
        .sort()
        .join('\n'),
    }
  }

  /**
   * Hands over the runs of a dead process while holding its lock, so that it cannot come back; those that were never queued
   * go to `queue`. Runs with a journalled intent end here, since nobody may start them again. `undefined` if the process is
   * alive after all, or another process was quicker.
   */
  async bury({ process, lockKey }: Missing, queue: string): Promise<Estate | undefined> {
    return inTransaction(this.#pool, async client => {
      const { rows } = await client.query<{ free: boolean }>(
        'SELECT pg_try_advisory_xact_lock($1, $2) AS free',
        [LOCKS, lockKey],
      )
      if (rows[0]?.free !== true) return undefined
      const { rowCount } = await client.query(
        `UPDATE ${SCHEMA}.workers SET gone_at = now() WHERE process = $1 AND gone_at IS NULL`,
        [process],
      )
      if (rowCount !== 1) return undefined
      return { ended: await endBegun(client, process), queues: await requeue(client, process, queue) }
    })
  }

  /** Reads what everybody offers; resolves to whether it has changed. */
  async refresh(): Promise<boolean> {
    const { rows } = await this.#pool.query<
      Pick<WorkerRow, 'process' | 'pool' | 'live' | 'gone_at' | 'seen_at'> & {
        definition: PublishedTool
        queue: string
      }
    >(
      `SELECT w.process, w.pool, w.live, w.gone_at, w.seen_at, t.queue, t.definition
       FROM (${WORKERS}) w JOIN ${SCHEMA}.tools t USING (process) ORDER BY w.started_at, t.name`,
    )
    const offers = new Map<string, Offer>()
    for (const row of rows) {
      const { pool, definition: tool, queue, live } = row
      const key = `${pool}\n${tool.name}\n${tool.fingerprint}`
      const offer = offers.get(key) ?? { pool, tool, queue, processes: [] }
      offers.set(key, offer)
      if (live) Object.assign(offer, { queue }).processes.push(row.process)
      else offer.goneSince = latest(offer.goneSince, (row.gone_at ?? row.seen_at).toISOString())
    }
    const picture = JSON.stringify([...offers.values()].map(({ tool, ...rest }) => [tool.fingerprint, rest]))
    const isChanged = picture !== this.#picture
    this.#picture = picture
    this.#offers = offers
    return isChanged
  }

  /** The offer of one tool of a pool, from live workers if possible. */
  find(pool: string, name: string): Offer | undefined {
    const all = [...this.#offers.values()].filter(offer => offer.pool === pool && offer.tool.name === name)
    return all.find(({ processes }) => processes.length > 0) ?? all[0]
  }

  /** Whether a live process of the pool has this tool. */
  isServed(pool: string, name: string): boolean {
    return (this.find(pool, name)?.processes.length ?? 0) > 0
  }

  /** What others offer. An offer without workers is left out if the same name is offered in another form. */
  offers(): OfferedTool[] {
    return [...this.#offers.values()].flatMap(({ pool, tool, processes, goneSince }) => {
      const others = processes.filter(process => process !== this.#self.process)
      if (others.length > 0) return [{ pool, tool, workers: others.length }]
      const isLiveElsewhere = processes.length > 0 || this.find(pool, tool.name)?.processes.length
      return isLiveElsewhere || goneSince === undefined
        ? []
        : [{ pool, tool, workers: 0, gone_since: goneSince }]
    })
  }

  /** Ids in use by live processes. */
  async liveIds(): Promise<Set<string>> {
    const { rows } = await this.#pool.query<WorkerRow>(`SELECT id FROM (${WORKERS}) w WHERE live`)
    return new Set(rows.map(({ id }) => id))
  }

  async list(): Promise<DurableWorker[]> {
    const { rows } = await this.#pool.query<WorkerRow & { tools: string[]; running: number }>(
      `SELECT w.*, (SELECT coalesce(array_agg(name ORDER BY name), '{}') FROM ${SCHEMA}.tools t WHERE t.process = w.process) AS tools,
         (SELECT count(*)::int FROM ${ENGINE_SCHEMA}.workflow_status s WHERE s.executor_id = w.process AND s.status = 'PENDING') AS running
       FROM (${WORKERS}) w ORDER BY w.id, w.started_at`,
    )
    return rows.map(row => ({
      ...{ id: row.id, pool: row.pool, role: row.role, host: row.host, pid: row.pid, tools: row.tools },
      state: row.live ? 'live' : 'gone',
      seen_at: (row.live ? row.seen_at : (row.gone_at ?? row.seen_at)).toISOString(),
      started_at: row.started_at.toISOString(),
      running: row.running,
    }))
  }
}

function latest(a: string | undefined, b: string): string {
  return a !== undefined && a > b ? a : b
}
