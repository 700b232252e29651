import { randomBytes, randomInt } from 'node:crypto'
import { hostname } from 'node:os'
import type { Pool } from 'pg'
import type { DurableWorker, OfferedTool, PublishedTool } from 'toolpost/project'
import { CHANNEL, LOCKS } from './database.ts'

/** A process without its lock for this long is dead: one that only lost its connection is back by then. */
const DEAD_AFTER_MS = 1_000
/** One that keeps its lock but says nothing for this long is frozen. */
const FROZEN_AFTER_S = 8
/** After PostgreSQL starts, everybody has to reconnect first. */
const SETTLED_AFTER_S = 3

/** Processes that died or came back recently may have left something behind meanwhile. */
const WORKERS = `
  SELECT w.process, w.id, w.pool, w.role, w.host, w.pid, w.started_at, w.seen_at, w.gone_at, w.published_at,
    now() - pg_postmaster_start_time() > interval '${SETTLED_AFTER_S} s' AS settled,
    w.gone_at IS NULL OR w.gone_at > now() - interval '1 minute' AS recent,
    w.seen_at > now() - interval '${FROZEN_AFTER_S} s' AND EXISTS (SELECT FROM pg_locks l WHERE l.locktype = 'advisory'
      AND l.granted AND l.classid::bigint = ${LOCKS} AND l.objsubid = 2 AND l.objid::bigint = w.lock_key
      AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())) AS live
  FROM toolpost.workers w`

interface WorkerRow {
  process: string
  id: string
  pool: string
  role: 'worker' | 'gateway'
  host: string
  pid: number
  started_at: Date
  seen_at: Date
  gone_at: Date | null
  published_at: Date | null
  settled: boolean
  recent: boolean
  live: boolean
}

/** A tool as it is published, with the queue its calls go to. */
export type QueuedTool = PublishedTool & { queue: string; isLimited: boolean }

/** A tool of a pool, and who runs it. */
export interface Offer {
  pool: string
  tool: QueuedTool
  /** Live ones. */
  processes: string[]
  goneSince?: string | undefined
}

/** All processes that share the database: who they are, what they offer, and which of them died. */
export class Workers {
  readonly #pool: Pool
  readonly role: 'worker' | 'gateway'
  readonly pool: string
  /** Stays the same over restarts. */
  id: string
  /** Unique to this run of the process, so that what it leaves behind can be told apart. */
  process = ''
  /** Key of the advisory lock it holds while it lives. */
  readonly lockKey = randomInt(1, 2 ** 31 - 1)
  readonly #missingSince = new Map<string, number>()
  #offers: Offer[] = []
  #picture = ''
  #lookedAt = 0

  constructor(database: Pool, self: { id: string; pool: string; role: 'worker' | 'gateway' }) {
    this.#pool = database
    this.id = self.id
    this.pool = self.pool
    this.role = self.role
  }

  /** Gives this process its name: if a live one has the same id, this one gets a number. */
  async name(): Promise<void> {
    const { rows } = await this.#pool.query<WorkerRow>(`SELECT * FROM (${WORKERS}) w WHERE live`)
    const taken = new Set(rows.map(({ id }) => id))
    const given = this.id
    for (let number = 2; taken.has(this.id); number++) this.id = `${given}-${number}`
    this.process = `${this.id}~${randomBytes(6).toString('hex')}`
  }

  /** Registers this process, which holds its lock. */
  async register(): Promise<void> {
    const { process: name, id, pool, role, lockKey } = this
    await this.#pool.query(
      `INSERT INTO toolpost.workers (process, id, pool, role, host, pid, lock_key) VALUES ($1, $2, $3, $4, $5, $6, $7)
       ON CONFLICT (process) DO UPDATE SET gone_at = NULL, seen_at = now()`,
      [name, id, pool, role, hostname(), process.pid, lockKey],
    )
    // Earlier runs of this worker, whose calls were taken over, and processes gone for long.
    await this.#pool.query(
      `DELETE FROM toolpost.workers WHERE gone_at < now() - interval '1 minute' AND process <> $1
       AND (id = $2 OR gone_at < now() - interval '7 days')`,
      [name, id],
    )
  }

  /** Replaces what this process offers, and tells the others. */
  async publish(tools: readonly QueuedTool[]): Promise<void> {
    await this.#pool.query(
      `UPDATE toolpost.workers SET tools = $2, published_at = clock_timestamp() WHERE process = $1`,
      [this.process, JSON.stringify(tools)],
    )
    await this.#pool.query('SELECT pg_notify($1, $2)', [CHANNEL, '{"workers":true}'])
  }

  /**
   * Says that this process is alive, looks who else is, and reads what they offer if anything changed. Nothing that was seen
   * before an outage counts: nobody is dead only because they could not be seen.
   */
  async look(): Promise<{ isChanged: boolean; dead: string[] }> {
    const beat = 'UPDATE toolpost.workers SET seen_at = now(), gone_at = NULL WHERE process = $1'
    const { rows } = await this.#pool.query<WorkerRow>(`WITH beat AS (${beat}) ${WORKERS}`, [this.process])
    const now = performance.now()
    if (now - this.#lookedAt > 5 * DEAD_AFTER_MS) this.#missingSince.clear()
    this.#lookedAt = now
    for (const { process: name, live } of rows) {
      if (live) this.#missingSince.delete(name)
      else if (!this.#missingSince.has(name)) this.#missingSince.set(name, now)
    }
    const isDead = ({ process: name, settled, recent }: WorkerRow) =>
      settled && recent && now - (this.#missingSince.get(name) ?? now) >= DEAD_AFTER_MS
    const picture = JSON.stringify(rows.map(row => [row.process, row.live, row.gone_at, row.published_at]))
    const isChanged = picture !== this.#picture
    if (isChanged) await this.#readOffers(rows)
    this.#picture = picture
    return { isChanged, dead: rows.filter(isDead).map(row => row.process) }
  }

  async #readOffers(workers: readonly WorkerRow[]): Promise<void> {
    const { rows } = await this.#pool.query<{ process: string; tools: QueuedTool[] }>(
      'SELECT process, tools FROM toolpost.workers ORDER BY started_at',
    )
    const offers = new Map<string, Offer>()
    for (const { process: name, tools } of rows) {
      const worker = workers.find(each => each.process === name)
      for (const tool of worker ? tools : []) {
        const { pool, live, seen_at } = worker as WorkerRow
        const key = [pool, tool.name, tool.fingerprint].join('\n')
        const offer: Offer = offers.get(key) ?? { pool, tool, processes: [] }
        offers.set(key, offer)
        const since = seen_at.toISOString()
        if (live) Object.assign(offer, { tool }).processes.push(name)
        else if (since > (offer.goneSince ?? '')) offer.goneSince = since
      }
    }
    this.#offers = [...offers.values()]
  }

  /** A tool that live workers of this pool define differently: they belong to different projects. */
  clash(): string | undefined {
    const live = this.#offers.filter(({ pool, processes }) => pool === this.pool && processes.length > 0)
    return live.find(({ tool }, at) =>
      live.some((other, index) => index > at && other.tool.name === tool.name),
    )?.tool.name
  }

  /** The offer of one tool of a pool, from live workers if possible. */
  find(pool: string, name: string): Offer | undefined {
    const all = this.#offers.filter(offer => offer.pool === pool && offer.tool.name === name)
    return all.find(({ processes }) => processes.length > 0) ?? all[0]
  }

  isServed(pool: string, name: string): boolean {
    return (this.find(pool, name)?.processes.length ?? 0) > 0
  }

  /** What others offer. An offer without workers is left out if the same name is offered in another form. */
  offers(): OfferedTool[] {
    return this.#offers.flatMap(
      ({ pool, tool: { queue: _, isLimited: __, ...tool }, processes, goneSince }) => {
        const others = processes.filter(name => name !== this.process)
        if (others.length > 0) return [{ pool, tool, workers: others.length }]
        if (this.isServed(pool, tool.name) || goneSince === undefined) return []
        return [{ pool, tool, workers: 0, gone_since: goneSince }]
      },
    )
  }

  async list(): Promise<DurableWorker[]> {
    const { rows } = await this.#pool.query<WorkerRow & { tools: string[]; running: number }>(
      `SELECT w.*, (SELECT coalesce(array_agg(t->>'name' ORDER BY t->>'name'), '{}')
           FROM toolpost.workers o, json_array_elements(o.tools) t WHERE o.process = w.process) AS tools,
         (SELECT count(*)::int FROM toolpost.runs r WHERE r.worker = w.process AND r.ended_at IS NULL) AS running
       FROM (${WORKERS}) w ORDER BY w.id, w.started_at`,
    )
    return rows.map(row => ({
      ...{ id: row.id, pool: row.pool, role: row.role, host: row.host, pid: row.pid, tools: row.tools },
      state: row.live ? 'live' : 'gone',
      seen_at: row.seen_at.toISOString(),
      started_at: row.started_at.toISOString(),
      running: row.running,
    }))
  }
}
