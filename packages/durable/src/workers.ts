import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { DurableOptions, DurableWorker, OfferedTool, PublishedTool } from 'toolpost/project'
import { CHANNEL, failed, nobodyRuns, type RunRow, type Store, unknown } from './store.ts'

const DEFAULT_DAYS = 30

/** A tool of a pool; `live` if somebody runs it, `workers` others. */
interface Offer {
  pool: string
  tool: PublishedTool
  live: boolean
  workers: number
  seen: Date
}

/** All processes that share the database: who they are, what they offer, which of them died, and what they left behind. */
export class Workers {
  /** This process is connected under this name while it lives. */
  readonly connection = randomUUID()
  readonly #id: string
  /** Unique to this run of the process, so that what it leaves behind can be told apart. */
  readonly process: string
  readonly #options: DurableOptions & { pool: string }
  readonly #store: Store
  #offers: Offer[] = []
  #picture = ''

  constructor(store: Store, options: DurableOptions & { pool: string }) {
    this.#store = store
    this.#options = options
    this.#id = options.workerId ?? `${hostname()}-${options.pool}`
    this.process = `${this.#id}~${this.connection}`
  }

  /** Registers this process with what it offers, and tells the others. */
  async publish(tools: readonly PublishedTool[]): Promise<void> {
    const { pool, role = 'worker' } = this.#options
    // PostgreSQL cannot store NUL.
    const storable = (_: string, value: unknown) =>
      typeof value === 'string' ? value.replaceAll('\0', '') : value
    await this.#store.query(
      `WITH published AS (
         INSERT INTO toolpost.workers (process, id, pool, role, host, pid, tools) VALUES ($1, $2, $3, $4, $5, $6, $7)
         ON CONFLICT (process) DO UPDATE SET seen_at = now(), published_at = clock_timestamp(), tools = EXCLUDED.tools)
       SELECT pg_notify('${CHANNEL}', '{}')`,
      [this.process, this.#id, pool, role, hostname(), process.pid, JSON.stringify(tools, storable)],
    )
  }

  /** Says that this process is alive, looks who else is, and reads what they offer if anything changed. */
  async look(): Promise<{ isChanged: boolean; dead: string[] }> {
    const rows = await this.#store.query<{ process: string; dead: boolean }>(
      `WITH beat AS (UPDATE toolpost.workers SET seen_at = now() WHERE process = $1)
       SELECT process, live OR process = $1 AS live, dead AND process <> $1 AS dead, published_at
       FROM toolpost.processes ORDER BY process`,
      [this.process],
    )
    const picture = JSON.stringify(rows)
    const isChanged = picture !== this.#picture
    if (isChanged)
      this.#offers = await this.#store.query<Offer>(
        `SELECT pool, tool, bool_or(live) AS live, count(*) FILTER (WHERE live AND process <> $1)::int AS workers,
           max(seen_at) AS seen
         FROM toolpost.processes, jsonb_array_elements(tools) tool GROUP BY pool, tool
         ORDER BY bool_or(live) DESC, min(started_at)`,
        [this.process],
      )
    this.#picture = picture
    return { isChanged, dead: rows.filter(({ dead }) => dead).map(row => row.process) }
  }

  /** A tool that live workers of this pool define differently: they belong to different projects. */
  clash(): string | undefined {
    const live = this.#offers.filter(({ pool, live }) => pool === this.#options.pool && live)
    const differs = ({ name, fingerprint }: PublishedTool) =>
      live.some(({ tool }) => tool.name === name && tool.fingerprint !== fingerprint)
    return live.find(({ tool }) => differs(tool))?.tool.name
  }

  /** The offer of a tool in a pool, from live workers if possible. */
  find(pool: string, name: string): Offer | undefined {
    return this.#offers.find(offer => offer.pool === pool && offer.tool.name === name)
  }

  /** What others offer. An offer without workers is left out if the same name is offered in another form. */
  offers(): OfferedTool[] {
    return this.#offers.flatMap(({ pool, tool, workers, seen }) => {
      if (workers > 0) return [{ pool, tool, workers }]
      return this.find(pool, tool.name)?.live ? [] : [{ pool, tool, workers, gone_since: seen.toISOString() }]
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

  /** Of the runs of dead processes, those that may have invoked their tool end with an unknown outcome; the others wait again. */
  async takeOver(dead: string[]): Promise<void> {
    await this.#store.requeue('worker = ANY($2)', [dead], 1)
    const orphans = 'SELECT * FROM toolpost.runs WHERE ended_at IS NULL AND worker = ANY($1)'
    for (const row of await this.#store.query(orphans, [dead]))
      await this.#store.finish(row, unknown(row), true)
  }

  /** Ends runs that nobody decided about in time, and those whose tool nobody has had for long: they may be sent again. */
  async endOverdue(): Promise<void> {
    const rows = await this.#store.query<RunRow & { gone: Date | null }>(
      `SELECT r.*, gone FROM toolpost.runs r, LATERAL (SELECT max(seen_at) AS gone, bool_or(NOT dead) AS served
         FROM toolpost.processes p
         WHERE p.pool = r.pool AND p.tools @> jsonb_build_array(jsonb_build_object('name', r.tool))) p
       WHERE ended_at IS NULL AND (state = 'approval' AND expires_at <= now()
         OR state = 'waiting' AND served IS NOT TRUE AND now() - pg_postmaster_start_time() > interval '4 s'
         AND (key IS NULL OR greatest(created_at, gone) < now() - (SELECT deserted FROM toolpost.meta))) LIMIT 1000`,
    )
    for (const row of rows) {
      const { state, tool, pool, approval, gone } = row
      const { expiresAt = 0, askedAt = 0 } = approval ?? {}
      const seconds = (expiresAt - askedAt) / 1_000
      const time = seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`
      const late = failed('denied', tool, `nobody answered within ${time}`)
      if (state === 'approval') await this.#store.finish(row, late, true)
      else await this.#store.finish(row, nobodyRuns(tool, pool, gone))
    }
  }

  /** Forgets old runs, not too many at once, and processes that are gone: earlier ones of this name, and old ones. */
  async clean(dead: readonly string[]): Promise<void> {
    const isOld = "seen_at < now() - CASE WHEN id = $2 THEN interval '1 min' ELSE interval '7 days' END"
    await this.#store.query(`DELETE FROM toolpost.workers WHERE process = ANY($1) AND ${isOld}`, [
      dead,
      this.#id,
    ])
    await this.#store.query(
      `DELETE FROM toolpost.runs WHERE id IN (SELECT id FROM toolpost.runs
         WHERE ended_at < now() - $1::float8 * interval '1 day' LIMIT 5000)`,
      [this.#options.days ?? DEFAULT_DAYS],
    )
  }
}
