import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import pg from 'pg'
import type { ToolResult } from 'toolpost'
import type * as project from 'toolpost/project'
import { connectionTo, DatabaseProblem } from './postgres.ts'
import { denied, hashOf, nobodyRuns, type RunRow, unknown } from './run.ts'

export const CHANNEL = 'toolpost_durable'
const SCHEMA_VERSION = 4
const POOL_SIZE = 10
const DEFAULT_DAYS = 30

/*
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

/*
 * Runs live in our own table; DBOS only knows which attempt of which run it has to start:
 *   approval ─▶ waiting ─▶ running ─▶ running, with an intent ─▶ done | failed | cancelled
 * Whatever changes a run names the attempt and state it expects, so whoever comes second changes nothing.
 */
const UNDONE = "state = 'running' AND intent IS NULL"
const NEXT_ATTEMPT = 'attempt = attempt + 1, worker = NULL, started_at = NULL'
const MOVES = {
  /** By the worker that got the attempt from a queue. */
  begin: ["state = 'running', worker = $3, started_at = now()", "(state = 'waiting' OR worker = $3)"],
  /** Before the tool is invoked. It may be repeated: the first answer may have been lost. */
  intend: ['intent = $3, intent_at = now()', "state = 'running' AND (intent IS NULL OR intent = $3)"],
  progress: ['progress = $3', "state = 'running'"],
  giveBack: [`state = 'waiting', ${NEXT_ATTEMPT}`, UNDONE],
  /** It gives its place back until somebody has decided. */
  ask: [`state = 'approval', approval = $3, expires_at = $4, ${NEXT_ATTEMPT}`, UNDONE],
  approve: ["state = 'waiting', approved_by = $3", "state = 'approval'"],
  finish: ['state = $4, result = $5, is_final = $6, ended_at = now()', 'state = $3'],
} as const

/** A tool of a pool; `live` if somebody runs it, `workers` others. */
interface Offer extends Pick<project.OfferedTool, 'pool' | 'tool' | 'workers'> {
  live: boolean
  seen: Date
}

/** Runs, and the processes that share the database: who they are, what they offer, and what those left behind that died. */
export class Database {
  /** This process is connected under this name while it lives. */
  readonly connection = randomUUID()
  /** What a process leaves behind is told apart from what it does after a restart. */
  readonly process: string
  readonly #options: project.DurableOptions & Record<'id' | 'pool' | 'role', string>
  declare pool: pg.Pool
  #offers: Offer[] = []
  #picture = ''

  constructor(options: project.DurableOptions) {
    const { pool = 'default', role = 'worker', workerId: id = `${hostname()}-${pool}` } = options
    this.#options = { ...options, id, pool, role }
    this.process = `${id}~${this.connection}`
  }

  /** Creates our tables if necessary. Throws a `DatabaseProblem`, with nothing changed, if they are of another version. */
  async open(url: URL): Promise<void> {
    this.pool = new pg.Pool({ ...connectionTo(url), max: POOL_SIZE })
    // A connection that breaks while in use rejects its query, an idle one is replaced: the events add nothing.
    this.pool.on('error', () => {}).on('connect', client => client.on('error', () => {}))
    // 42P01: there is no such table yet.
    const none = (error: { code?: string }) => (error.code === '42P01' ? [] : Promise.reject(error))
    const [found] = await this.query<{ version: number }>('SELECT version FROM toolpost.meta').catch(none)
    const { version } = found ?? { version: SCHEMA_VERSION }
    const versions = `(its schema version is ${version}, this release supports ${SCHEMA_VERSION})`
    const newer = `a newer Toolpost ${versions}. Upgrade Toolpost here, or use another database`
    const older = `an older Toolpost ${versions}. Use another database, or drop its schemas 'toolpost' and 'toolpost_engine' if no run in them matters any more`
    if (version !== SCHEMA_VERSION)
      throw new DatabaseProblem(`The database belongs to ${version > SCHEMA_VERSION ? newer : older}`)
    if (!found) await this.pool.query(TABLES)
  }

  async close(): Promise<void> {
    await this.pool?.end().catch(() => {})
  }

  /** Prepares each query once per connection: planning some takes longer than everything else. */
  async query<T extends object = RunRow>(text: string, values: unknown[] = []): Promise<T[]> {
    const name = hashOf(text).slice(0, 32)
    return (await this.pool.query<T>({ name, text, values })).rows
  }

  read(ids: string[]): Promise<RunRow[]> {
    return this.query('SELECT * FROM toolpost.runs WHERE id = ANY($1)', [ids])
  }

  /** Newest first, without large results. */
  list({ tool, caller, state, before, limit = 50 }: project.RunFilter = {}): Promise<RunRow[]> {
    return this.query(
      `SELECT *, CASE WHEN length(result::text) > 10000 THEN NULL ELSE result END AS result FROM toolpost.runs
       WHERE ($1::text IS NULL OR tool = $1) AND ($2::text IS NULL OR caller = $2) AND ($3::text IS NULL OR state = $3)
         AND ($4::text IS NULL OR (created_at, id) < (SELECT created_at, id FROM toolpost.runs WHERE id = $4))
       ORDER BY created_at DESC, id DESC LIMIT least($5, 500)`,
      [tool, caller, state, before, limit],
    )
  }

  /** The runs that a person is being asked about, and still has time. */
  asked(): Promise<RunRow[]> {
    const isOpen = "state = 'approval' AND ended_at IS NULL AND expires_at > now()"
    return this.query(`SELECT * FROM toolpost.runs WHERE ${isOpen} ORDER BY created_at LIMIT 1000`)
  }

  /** Inserts a run, or starts one over that was refused before its tool ran. `undefined` if the id is taken. */
  async insert(row: object): Promise<RunRow | undefined> {
    const none = { worker: null, started_at: null, intent: null, intent_at: null, ended_at: null }
    const columns = { ...none, progress: null, result: null, ...row }
    const names = Object.keys(columns)
    const [inserted] = await this.query(
      `INSERT INTO toolpost.runs (${names}) VALUES (${names.map((_, index) => `$${index + 1}`)})
       ON CONFLICT (id) DO UPDATE SET ${names.map(name => `${name} = EXCLUDED.${name}`)}, attempt = runs.attempt + 1,
         created_at = clock_timestamp()
       WHERE runs.state = 'failed' AND NOT runs.is_final AND runs.call_hash = EXCLUDED.call_hash AND runs.pool = EXCLUDED.pool
       RETURNING *`,
      Object.values(columns),
    )
    return inserted
  }

  active(queues: string[]): Promise<RunRow[]> {
    const isActive = 'ended_at IS NULL AND queue = ANY($1) ORDER BY created_at LIMIT 1000'
    return this.query(`SELECT id, attempt, state, tool, queue FROM toolpost.runs WHERE ${isActive}`, [queues])
  }

  /** Takes waiting runs of these tools, except from some queues, for this process. */
  claim(tools: string[], except: string[], most: number): Promise<RunRow[]> {
    return this.query(
      `UPDATE toolpost.runs SET state = 'running', worker = $5, started_at = now() WHERE id IN (
         SELECT id FROM toolpost.runs WHERE ended_at IS NULL AND state = 'waiting' AND pool = $1 AND tool = ANY($2)
           AND queue <> ALL($3) ORDER BY created_at LIMIT $4 FOR UPDATE SKIP LOCKED) RETURNING *`,
      [this.#options.pool, tools, except, most, this.process],
    )
  }

  /** Changes a run; `undefined` if the attempt is over, or not in the state that the change expects. */
  async move(name: keyof typeof MOVES, run: Pick<RunRow, 'id' | 'attempt'>, ...values: unknown[]) {
    const [change, state] = MOVES[name]
    const which = `id = $1 AND attempt = $2 AND ended_at IS NULL AND ${state}`
    const move = `UPDATE toolpost.runs SET ${change} WHERE ${which} RETURNING *`
    return (await this.query(move, [run.id, run.attempt, ...values]))[0]
  }

  finish(run: RunRow, result: ToolResult, isFinal = false, text?: string): Promise<RunRow | undefined> {
    return this.move('finish', run, run.state, result.success ? 'done' : 'failed', text ?? result, isFinal)
  }

  async cancel(id: string): Promise<RunRow | undefined> {
    const cancel = "UPDATE toolpost.runs SET state = 'cancelled', is_final = true, ended_at = now()"
    return (await this.query(`${cancel} WHERE id = $1 AND ended_at IS NULL RETURNING *`, [id]))[0]
  }

  /**
   * Of the runs of dead processes, and of those that this one took without knowing (PostgreSQL was gone before it could say
   * so), those that have not invoked their tool wait again; the outcome of the others is unknown. Runs that nobody decided
   * about in time end, and those whose tool nobody has had for long: they may be sent again.
   */
  async sweep(running: string[]): Promise<void> {
    await this.query(
      `UPDATE toolpost.runs SET state = 'waiting', deaths = deaths + 1, ${NEXT_ATTEMPT} WHERE ended_at IS NULL AND ${UNDONE}
         AND (worker IN (SELECT process FROM toolpost.processes WHERE dead)
           OR worker = $1 AND id <> ALL($2) AND started_at < now() - interval '5 s')`,
      [this.process, running],
    )
    const rows = await this.query<RunRow & { gone: Date | null }>(
      `SELECT r.*, gone FROM toolpost.runs r, LATERAL (SELECT max(seen_at) AS gone, bool_or(NOT dead) AS served
         FROM toolpost.processes p
         WHERE p.pool = r.pool AND p.tools @> jsonb_build_array(jsonb_build_object('name', r.tool))) p
       WHERE ended_at IS NULL AND (state = 'approval' AND expires_at <= now()
         OR intent IS NOT NULL AND worker IN (SELECT process FROM toolpost.processes WHERE dead)
         OR state = 'waiting' AND served IS NOT TRUE AND now() - pg_postmaster_start_time() > interval '4 s'
         AND (key IS NULL OR greatest(created_at, gone) < now() - (SELECT orphan_timeout FROM toolpost.meta))) LIMIT 1000`,
    )
    for (const row of rows) {
      const { state, tool, pool, gone } = row
      if (state === 'waiting') await this.finish(row, nobodyRuns(tool, pool, gone))
      else
        await this.finish(
          row,
          state === 'running' ? unknown(row) : denied(tool, 'nobody answered in time'),
          true,
        )
    }
  }

  /** Registers this process with what it offers, and tells the others. */
  async publish(tools: readonly project.PublishedTool[]): Promise<void> {
    const { id, pool, role } = this.#options
    // PostgreSQL cannot store NUL.
    const text = JSON.stringify(tools, (_, value) => value?.replaceAll?.('\0', '') ?? value)
    await this.query(
      `WITH published AS (
         INSERT INTO toolpost.workers (process, id, pool, role, host, pid, tools) VALUES ($1, $2, $3, $4, $5, $6, $7)
         ON CONFLICT (process) DO UPDATE SET seen_at = now(), published_at = clock_timestamp(), tools = EXCLUDED.tools)
       SELECT pg_notify('${CHANNEL}', '{}')`,
      [this.process, id, pool, role, hostname(), process.pid, text],
    )
  }

  async leave(): Promise<void> {
    await this.query('UPDATE toolpost.workers SET closed = true WHERE process = $1', [this.process])
    await this.sweep([])
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
    const { workerId, role, pool } = this.#options
    if (isChanged)
      this.#offers = await this.query<Offer>(
        `SELECT pool, tool, bool_or(live) AS live, count(*) FILTER (WHERE live AND process <> $1)::int AS workers,
           max(seen_at) AS seen
         FROM toolpost.processes, jsonb_array_elements(tools) tool
         WHERE process = $1 OR (id, role, pool) IS DISTINCT FROM ($2, $3, $4) GROUP BY pool, tool
         ORDER BY bool_or(live) DESC, min(started_at)`,
        // This worker, before it was restarted, had the tools that it is about to have again.
        [this.process, workerId, role, pool],
      )
    this.#picture = picture
    return { isChanged, dead: rows.filter(({ dead }) => dead).map(row => row.process) }
  }

  /** A tool that live workers of this pool define differently: they belong to different projects. */
  clash(): string | undefined {
    const live = this.#offers.filter(offer => offer.live && offer.pool === this.#options.pool)
    const prints = new Map(live.map(({ tool }) => [tool.name, tool.fingerprint]))
    return live.find(({ tool }) => prints.get(tool.name) !== tool.fingerprint)?.tool.name
  }

  /** The offer of a tool in a pool, from live workers if possible. */
  find(pool: string, name: string): Offer | undefined {
    return this.#offers.find(offer => offer.pool === pool && offer.tool.name === name)
  }

  /** What others offer. An offer without workers is left out if the same name is offered in another form. */
  offers(): project.OfferedTool[] {
    return this.#offers.flatMap(({ pool, tool, workers, seen }) => {
      if (workers > 0) return [{ pool, tool, workers }]
      return this.find(pool, tool.name)?.live ? [] : [{ pool, tool, workers, gone_since: seen.toISOString() }]
    })
  }

  workers(): Promise<project.DurableWorker[]> {
    return this.query(
      `SELECT id, pool, role, host, pid, CASE WHEN live THEN 'live' ELSE 'gone' END AS state,
         to_json(seen_at)#>>'{}' AS seen_at, to_json(started_at)#>>'{}' AS started_at,
         (SELECT coalesce(array_agg(t->>'name' ORDER BY t->>'name'), '{}') FROM jsonb_array_elements(tools) t) AS tools,
         (SELECT count(*)::int FROM toolpost.runs WHERE worker = process AND ended_at IS NULL) AS running
       FROM toolpost.processes ORDER BY id, started_at`,
    )
  }

  /** Forgets old runs, not too many at once, and processes that are gone: earlier ones of this name, and old ones. */
  async clean(): Promise<void> {
    const { id, days = DEFAULT_DAYS } = this.#options
    await this.query(
      `WITH gone AS (DELETE FROM toolpost.workers WHERE process IN (SELECT process FROM toolpost.processes WHERE dead)
         AND seen_at < now() - CASE WHEN id = $2 THEN interval '1 min' ELSE interval '7 days' END)
       DELETE FROM toolpost.runs WHERE id IN (SELECT id FROM toolpost.runs
         WHERE ended_at < now() - $1::float8 * interval '1 day' LIMIT 5000)`,
      [days, id],
    )
  }
}
