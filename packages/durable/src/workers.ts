import { randomBytes, randomInt } from 'node:crypto'
import { hostname } from 'node:os'
import type { DurableWorker, OfferedTool, PublishedTool } from 'toolpost/project'
import { CHANNEL } from './database.ts'
import type { Store } from './store.ts'

/** A tool as it is published, with the DBOS queue that keeps the limits of its server. */
export type QueuedTool = PublishedTool & { queue: string | null }

/** A tool of a pool, and who runs it. */
export interface Offer {
  pool: string
  tool: QueuedTool
  /** Live ones; `null` if there is none. */
  processes: string[] | null
  seen: Date
}

/** All processes that share the database: who they are, what they offer, and which of them died. */
export class Workers {
  readonly #store: Store
  readonly #id: string
  readonly pool: string
  readonly role: 'worker' | 'gateway'
  /** Unique to this run of the process, so that what it leaves behind can be told apart. */
  readonly process: string
  /** Key of the advisory lock it holds while it lives. */
  readonly lockKey = randomInt(1, 2 ** 31 - 1)
  #offers: Offer[] = []
  #picture = ''

  constructor(store: Store, self: { id: string; pool: string; role: 'worker' | 'gateway' }) {
    this.#store = store
    this.#id = self.id
    this.pool = self.pool
    this.role = self.role
    this.process = `${self.id}~${randomBytes(6).toString('hex')}`
  }

  /** Registers this process, which holds its lock. */
  async register(): Promise<void> {
    await this.#store.query(
      `INSERT INTO toolpost.workers (process, id, pool, role, host, pid, lock_key) VALUES ($1, $2, $3, $4, $5, $6, $7)
       ON CONFLICT (process) DO UPDATE SET seen_at = now()`,
      [this.process, this.#id, this.pool, this.role, hostname(), process.pid, this.lockKey],
    )
  }

  /** Forgets dead processes whose runs were taken over: earlier runs of this one, and those gone for long. */
  async forget(dead: readonly string[]): Promise<void> {
    await this.#store.query(
      `DELETE FROM toolpost.workers WHERE process = ANY($1)
         AND (id = $2 AND seen_at < now() - interval '1 min' OR seen_at < now() - interval '7 days')`,
      [dead, this.#id],
    )
  }

  /** Replaces what this process offers, and tells the others. */
  async publish(tools: readonly QueuedTool[]): Promise<void> {
    // PostgreSQL cannot store NUL.
    const storable = (_: string, value: unknown) =>
      typeof value === 'string' ? value.replaceAll('\0', '') : value
    await this.#store.query(
      `WITH published AS (UPDATE toolpost.workers SET tools = $2, published_at = clock_timestamp() WHERE process = $1)
       SELECT pg_notify('${CHANNEL}', '{"workers":true}')`,
      [this.process, JSON.stringify(tools, storable)],
    )
  }

  /** Says that this process is alive, looks who else is, and reads what they offer if anything changed. */
  async look(): Promise<{ isChanged: boolean; dead: string[] }> {
    const rows = await this.#store.query<{ process: string; live: boolean; dead: boolean }>(
      `WITH beat AS (UPDATE toolpost.workers SET seen_at = now() WHERE process = $1)
       SELECT process, live OR process = $1 AS live, dead AND process <> $1 AS dead, published_at
       FROM toolpost.processes ORDER BY process`,
      [this.process],
    )
    const picture = JSON.stringify(rows)
    const isChanged = picture !== this.#picture
    if (isChanged)
      this.#offers = await this.#store.query<Offer>(
        `SELECT pool, tool, array_agg(process) FILTER (WHERE live OR process = $1) AS processes, max(seen_at) AS seen
         FROM toolpost.processes, jsonb_array_elements(tools) tool GROUP BY pool, tool
         ORDER BY bool_or(live) DESC, min(started_at)`,
        [this.process],
      )
    this.#picture = picture
    return { isChanged, dead: rows.filter(({ dead }) => dead).map(row => row.process) }
  }

  /** A tool that live workers of this pool define differently: they belong to different projects. */
  clash(): string | undefined {
    const live = this.#offers.filter(({ pool, processes }) => pool === this.pool && processes)
    return live.find(({ tool: { name, fingerprint } }) =>
      live.some(({ tool }) => tool.name === name && tool.fingerprint !== fingerprint),
    )?.tool.name
  }

  /** The offer of a tool in one of these pools, from live workers if possible. */
  find(pools: readonly string[], name: string): Offer | undefined {
    const all = this.#offers.filter(({ pool, tool }) => pools.includes(pool) && tool.name === name)
    return all.find(({ processes }) => processes) ?? all[0]
  }

  /** What others offer. An offer without workers is left out if the same name is offered in another form. */
  offers(): OfferedTool[] {
    return this.#offers.flatMap(({ pool, tool: { queue: _, ...tool }, processes, seen }) => {
      const workers = processes?.filter(name => name !== this.process).length ?? 0
      if (workers > 0) return [{ pool, tool, workers }]
      if (this.find([pool], tool.name)?.processes) return []
      return [{ pool, tool, workers, gone_since: seen.toISOString() }]
    })
  }

  list(): Promise<DurableWorker[]> {
    return this.#store.query<DurableWorker>(
      `SELECT id, pool, role, host, pid, CASE WHEN live THEN 'live' ELSE 'gone' END AS state,
         to_json(seen_at)#>>'{}' AS seen_at, to_json(started_at)#>>'{}' AS started_at,
         (SELECT coalesce(array_agg(t->>'name' ORDER BY t->>'name'), '{}') FROM jsonb_array_elements(tools) t) AS tools,
         (SELECT count(*)::int FROM toolpost.runs WHERE worker = process AND ended_at IS NULL) AS running
       FROM toolpost.processes ORDER BY id, started_at`,
    )
  }
}
