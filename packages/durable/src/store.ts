import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import pg from 'pg'
import type { ToolResult } from 'toolpost'
import type { DurableOptions, DurableWorker, OfferedTool, PublishedTool } from 'toolpost/project'
import { connectionTo, DatabaseProblem } from './database.ts'
import { failed, nobodyRuns, type RunRow, unknown } from './run.ts'

export const CHANNEL = 'toolpost_durable'
/** The version this release reads and writes. */
const SCHEMA_VERSION = 4
const POOL_SIZE = 10
const DEFAULT_DAYS = 30

/*
 * Runs live in our own tables; DBOS only knows which attempt of which run it has to start. A run changes by single
 * statements that name the state and attempt they expect, so whoever comes second changes nothing.
 *
 * A process is live while it is connected under its name and never silent for long; for a moment it may be disconnected. It is
 * dead otherwise, but not before everybody has had the time to return after PostgreSQL started.
 */
const TABLES = `
  CREATE SCHEMA IF NOT EXISTS toolpost;
  CREATE TABLE IF NOT EXISTS toolpost.meta (
    version integer NOT NULL, silence interval NOT NULL DEFAULT '8 s', orphan_timeout interval NOT NULL DEFAULT '2 min'
  );
  INSERT INTO toolpost.meta SELECT ${SCHEMA_VERSION} WHERE NOT EXISTS (SELECT FROM toolpost.meta);
  CREATE TABLE IF NOT EXISTS toolpost.workers (
    process text PRIMARY KEY, id text NOT NULL, pool text NOT NULL, role text NOT NULL, host text NOT NULL,
    pid integer NOT NULL, started_at timestamptz NOT NULL DEFAULT now(), seen_at timestamptz NOT NULL DEFAULT now(),
    closed boolean NOT NULL DEFAULT false, published_at timestamptz, tools jsonb NOT NULL DEFAULT '[]'
  );
  CREATE OR REPLACE VIEW toolpost.processes AS SELECT *,
      NOT live AND now() - pg_postmaster_start_time() > interval '4 s' AS dead
    FROM (SELECT w.*, NOT closed AND (seen_at > now() - interval '1.5 s' OR seen_at > now() - (SELECT silence FROM toolpost.meta)
      AND EXISTS (SELECT FROM pg_stat_activity WHERE application_name = right(process, 36))) AS live FROM toolpost.workers w) p;
  CREATE TABLE IF NOT EXISTS toolpost.runs (
    id text PRIMARY KEY, tool text NOT NULL, pool text NOT NULL, queue text NOT NULL, repeatable boolean NOT NULL,
    call json NOT NULL, call_hash text NOT NULL, caller text, origin text, key text, state text NOT NULL,
    attempt integer NOT NULL DEFAULT 1, deaths integer NOT NULL DEFAULT 0, worker text, intent text, approval json,
    expires_at timestamptz, approved_by text, progress json, result json, is_final boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(), started_at timestamptz, intent_at timestamptz,
    ended_at timestamptz
  );
  CREATE INDEX IF NOT EXISTS runs_created ON toolpost.runs (created_at, id);
  CREATE INDEX IF NOT EXISTS runs_active ON toolpost.runs (worker) WHERE ended_at IS NULL;
  CREATE INDEX IF NOT EXISTS runs_ended ON toolpost.runs (ended_at);
  CREATE OR REPLACE FUNCTION toolpost.tell() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    PERFORM pg_notify('${CHANNEL}', json_build_object('run', NEW.id, 'state', NEW.state,
      'asks', NEW.state = 'approval' OR (TG_OP = 'UPDATE' AND OLD.state = 'approval'))::text);
    RETURN NULL;
  END $$;
  CREATE OR REPLACE TRIGGER runs_tell AFTER INSERT OR UPDATE OF state, progress ON toolpost.runs
    FOR EACH ROW EXECUTE FUNCTION toolpost.tell();
`
/** A person is being asked about a run, and still has time. */
export const ASKS = "state = 'approval' AND ended_at IS NULL AND expires_at > now()"

/** A tool of a pool; `live` if somebody runs it, `workers` others. */
interface Offer {
  pool: string
  tool: PublishedTool
  live: boolean
  workers: number
  seen: Date
}

/** Runs, and the processes that share the database: who they are, what they offer, and what those left behind that died. */
export class Store {
  /** This process is connected under this name while it lives. */
  readonly connection = randomUUID()
  readonly #id: string
  /** Unique to this run of the process, so that what it leaves behind can be told apart. */
  readonly process: string
  readonly #options: DurableOptions & { pool: string }
  #pool: pg.Pool | undefined
  #offers: Offer[] = []
  #picture = ''

  constructor(options: DurableOptions & { pool: string }) {
    this.#options = options
    this.#id = options.workerId ?? `${hostname()}-${options.pool}`
    this.process = `${this.#id}~${this.connection}`
  }

  get pool(): pg.Pool {
    if (this.#pool) return this.#pool
    throw new Error('there is no connection to PostgreSQL')
  }

  /** Creates our tables if necessary. Throws a `DatabaseProblem`, with nothing changed, if they are of another version. */
  async open(url: URL): Promise<void> {
    this.#pool = new pg.Pool({ ...connectionTo(url), max: POOL_SIZE })
    // A connection that breaks while in use rejects its query, an idle one is replaced: the events add nothing.
    this.#pool.on('error', () => {}).on('connect', client => client.on('error', () => {}))
    // 42P01: there is no such table yet.
    const none = (error: { code?: string }) => (error.code === '42P01' ? [] : Promise.reject(error))
    const [found] = await this.query<{ version: number }>('SELECT version FROM toolpost.meta').catch(none)
    const version = found?.version ?? SCHEMA_VERSION
    const versions = `(its schema version is ${version}, this release supports ${SCHEMA_VERSION})`
    const newer = `a newer Toolpost ${versions}. Upgrade Toolpost here, or use another database`
    const older = `an older Toolpost ${versions}. Use another database, or drop its schemas 'toolpost' and 'toolpost_engine' if no run in them matters any more`
    if (version !== SCHEMA_VERSION)
      throw new DatabaseProblem(`The database belongs to ${version > SCHEMA_VERSION ? newer : older}`)
    await this.query(TABLES)
  }

  async close(): Promise<void> {
    const pool = this.#pool
    this.#pool = undefined
    await pool?.end().catch(() => {})
  }

  async query<T extends object = RunRow>(text: string, values: unknown[] = []): Promise<T[]> {
    return (await this.pool.query<T>(text, values)).rows
  }

  /** Changes a run; `undefined` if there is none in the state and attempt that the change expects. */
  async change(change: string, values: unknown[]): Promise<RunRow | undefined> {
    return (await this.query(`UPDATE toolpost.runs SET ${change} RETURNING *`, values))[0]
  }

  async read(id: string): Promise<RunRow | undefined> {
    return (await this.query('SELECT * FROM toolpost.runs WHERE id = $1', [id]))[0]
  }

  /** Inserts a run, or starts one over that was refused before its tool ran. `undefined` if the id is taken. */
  async insert(row: object): Promise<RunRow | undefined> {
    const fresh = { result: null, progress: null, intent: null, intent_at: null, ended_at: null }
    const columns = Object.entries({ ...fresh, ...row })
    const names = columns.map(([name]) => name)
    const rows = await this.query(
      `INSERT INTO toolpost.runs (${names}) VALUES (${names.map((_, index) => `$${index + 1}`)})
       ON CONFLICT (id) DO UPDATE SET ${names.map(name => `${name} = EXCLUDED.${name}`)}, attempt = runs.attempt + 1,
         created_at = clock_timestamp()
       WHERE runs.state = 'failed' AND NOT runs.is_final AND runs.call_hash = EXCLUDED.call_hash AND runs.pool = EXCLUDED.pool
       RETURNING *`,
      columns.map(([, value]) => value),
    )
    return rows[0]
  }

  /** Journals a result; `undefined` if the run has ended, or has moved on from that state or attempt. */
  finish({ id, attempt, state }: RunRow, result: ToolResult, isFinal = false, kept?: string) {
    return this.change(
      'state = $4, result = $5, is_final = $6, ended_at = now() WHERE id = $1 AND attempt = $2 AND state = $3',
      [id, attempt, state, result.success ? 'done' : 'failed', kept ?? result, isFinal],
    )
  }

  /** Gives runs back that have not invoked their tool, for the next attempt. */
  requeue(which: string, values: unknown[], deaths = 0): Promise<RunRow | undefined> {
    return this.change(
      `state = 'waiting', attempt = attempt + 1, deaths = deaths + $1, worker = NULL, started_at = NULL
       WHERE state = 'running' AND intent IS NULL AND ${which}`,
      [deaths, ...values],
    )
  }

  /** Registers this process with what it offers, and tells the others. */
  async publish(tools: readonly PublishedTool[]): Promise<void> {
    const { pool, role = 'worker' } = this.#options
    // PostgreSQL cannot store NUL.
    const storable = (_: string, value: unknown) =>
      typeof value === 'string' ? value.replaceAll('\0', '') : value
    await this.query(
      `WITH published AS (
         INSERT INTO toolpost.workers (process, id, pool, role, host, pid, tools) VALUES ($1, $2, $3, $4, $5, $6, $7)
         ON CONFLICT (process) DO UPDATE SET seen_at = now(), published_at = clock_timestamp(), tools = EXCLUDED.tools)
       SELECT pg_notify('${CHANNEL}', '{}')`,
      [this.process, this.#id, pool, role, hostname(), process.pid, JSON.stringify(tools, storable)],
    )
  }

  /** Says that this process is alive, looks who else is, and reads what they offer if anything changed. */
  async look(): Promise<{ isChanged: boolean; dead: string[] }> {
    const rows = await this.query<{ process: string; dead: boolean }>(
      `WITH beat AS (UPDATE toolpost.workers SET seen_at = now() WHERE process = $1)
       SELECT process, live OR process = $1 AS live, dead AND process <> $1 AS dead, published_at
       FROM toolpost.processes ORDER BY process`,
      [this.process],
    )
    const picture = JSON.stringify(rows)
    const isChanged = picture !== this.#picture
    if (isChanged)
      this.#offers = await this.query<Offer>(
        `SELECT pool, tool, bool_or(live) AS live, count(*) FILTER (WHERE live AND process <> $1)::int AS workers,
           max(seen_at) AS seen
         FROM toolpost.processes, jsonb_array_elements(tools) tool
         WHERE process = $1 OR (id, role, pool) IS DISTINCT FROM ($2, $3, $4) GROUP BY pool, tool
         ORDER BY bool_or(live) DESC, min(started_at)`,
        // This worker, before it was restarted, had the tools that it is about to have again.
        [this.process, this.#options.workerId, this.#options.role ?? 'worker', this.#options.pool],
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

  workers(): Promise<DurableWorker[]> {
    return this.query<DurableWorker>(
      `SELECT id, pool, role, host, pid, CASE WHEN live THEN 'live' ELSE 'gone' END AS state,
         to_json(seen_at)#>>'{}' AS seen_at, to_json(started_at)#>>'{}' AS started_at,
         (SELECT coalesce(array_agg(t->>'name' ORDER BY t->>'name'), '{}') FROM jsonb_array_elements(tools) t) AS tools,
         (SELECT count(*)::int FROM toolpost.runs WHERE worker = process AND ended_at IS NULL) AS running
       FROM toolpost.processes ORDER BY id, started_at`,
    )
  }

  /** Of the runs of dead processes, those that may have invoked their tool end with an unknown outcome; the others wait again. */
  async takeOver(dead: string[]): Promise<void> {
    await this.requeue('worker = ANY($2)', [dead], 1)
    const orphans = 'SELECT * FROM toolpost.runs WHERE ended_at IS NULL AND worker = ANY($1)'
    for (const row of await this.query(orphans, [dead])) await this.finish(row, unknown(row), true)
  }

  /** Ends runs that nobody decided about in time, and those whose tool nobody has had for long: they may be sent again. */
  async endOverdue(): Promise<void> {
    const rows = await this.query<RunRow & { gone: Date | null }>(
      `SELECT r.*, gone FROM toolpost.runs r, LATERAL (SELECT max(seen_at) AS gone, bool_or(NOT dead) AS served
         FROM toolpost.processes p
         WHERE p.pool = r.pool AND p.tools @> jsonb_build_array(jsonb_build_object('name', r.tool))) p
       WHERE ended_at IS NULL AND (state = 'approval' AND expires_at <= now()
         OR state = 'waiting' AND served IS NOT TRUE AND now() - pg_postmaster_start_time() > interval '4 s'
         AND (key IS NULL OR greatest(created_at, gone) < now() - (SELECT orphan_timeout FROM toolpost.meta))) LIMIT 1000`,
    )
    for (const row of rows) {
      const { state, tool, pool, approval, gone } = row
      const { expiresAt = 0, askedAt = 0 } = approval ?? {}
      const seconds = (expiresAt - askedAt) / 1_000
      const time = seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`
      const late = failed('denied', tool, `nobody answered within ${time}`)
      if (state === 'approval') await this.finish(row, late, true)
      else await this.finish(row, nobodyRuns(tool, pool, gone))
    }
  }

  /** Forgets old runs, not too many at once, and processes that are gone: earlier ones of this name, and old ones. */
  async clean(dead: readonly string[]): Promise<void> {
    const isOld = "seen_at < now() - CASE WHEN id = $2 THEN interval '1 min' ELSE interval '7 days' END"
    await this.query(`DELETE FROM toolpost.workers WHERE process = ANY($1) AND ${isOld}`, [dead, this.#id])
    await this.query(
      `DELETE FROM toolpost.runs WHERE id IN (SELECT id FROM toolpost.runs
         WHERE ended_at < now() - $1::float8 * interval '1 day' LIMIT 5000)`,
      [this.#options.days ?? DEFAULT_DAYS],
    )
  }
}
