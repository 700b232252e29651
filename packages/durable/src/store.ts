import { createHash } from 'node:crypto'
import pg from 'pg'
import type { Progress, RunOptions, ToolCall, ToolExecutor, ToolFailure, ToolResult } from 'toolpost'
import type { Approval } from 'toolpost/interceptors'
import { type Run, type RunState, safeValue } from 'toolpost/project'
import { connectionTo, DatabaseProblem } from './database.ts'

export const CHANNEL = 'toolpost_durable'
/** The version this release reads and writes. */
const SCHEMA_VERSION = 4
const POOL_SIZE = 10
/** Larger arguments are refused; larger results are stored as the text a model would read. */
const MAX_BYTES = 1_000_000

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
    version integer NOT NULL, silence interval NOT NULL DEFAULT '8 s', deserted interval NOT NULL DEFAULT '2 min'
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

type Text = 'id' | 'tool' | 'pool' | 'queue' | 'call_hash'
type NullableText = 'caller' | 'origin' | 'key' | 'worker' | 'approved_by'

/**
 * `queue`: the pool and server of its tool. `repeatable`: read-only or idempotent, so it may be executed again after a crash.
 * `deaths`: how many workers died with it.
 */
export interface RunRow extends Record<Text, string>, Record<NullableText, string | null> {
  /** All that another process needs to execute it. */
  call: Pick<ToolCall, 'id' | 'args'> & Pick<RunOptions, 'timeoutMs' | 'repair' | 'meta'>
  repeatable: boolean
  state: RunState
  attempt: number
  deaths: number
  approval: Approval | null
  progress: Progress | null
  result: ToolResult | null
  created_at: Date
  started_at: Date | null
  intent_at: Date | null
  ended_at: Date | null
}

/** Our queries. */
export class Store {
  #pool: pg.Pool | undefined

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
}

/** A value as it is journalled; `undefined` if it is not JSON or too large. */
export function jsonWithin(value: object): string | undefined {
  try {
    const text = JSON.stringify(value)
    return Buffer.byteLength(text) > MAX_BYTES ? undefined : text
  } catch {
    return undefined
  }
}

/** Equal for equal values, whatever the order of their keys. */
export function hashOf(value: unknown): string {
  const sorted = JSON.stringify(value, (_, inner: unknown) => {
    if (inner === null || typeof inner !== 'object' || Array.isArray(inner)) return inner
    return Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
  })
  return createHash('sha256').update(sorted).digest('hex')
}

/** A run as it is shown. */
export function runOf(row: RunRow): Run {
  const { id, tool, state, attempt, pool, approval, created_at, started_at, intent_at, ended_at } = row
  const iso = (at: Date | number | null | undefined) => (at ? new Date(at).toISOString() : undefined)
  const worker = row.worker === null ? undefined : workerOf(row.worker)
  const times = {
    accepted: created_at,
    asked: approval?.askedAt,
    started: started_at,
    intent: intent_at,
    ended: ended_at,
  }
  const steps = Object.entries(times).flatMap(([name, time]) => {
    const at = iso(time)
    return at ? [{ name, at, worker: name === 'started' || name === 'ended' ? worker : undefined }] : []
  })
  return {
    ...{ id, tool, args: safeValue(row.call.args ?? {}), state, pool, worker, steps },
    attempts: started_at || ended_at ? attempt : attempt - 1,
    ...{ caller: row.caller ?? undefined, origin: row.origin ?? undefined, key: row.key ?? undefined },
    ...{ created_at: created_at.toISOString(), started_at: iso(started_at), ended_at: iso(ended_at) },
    ...(state === 'running' && { progress: row.progress ?? undefined }),
    result: resultOf(row),
  }
}

/** The stable id within the name of a process. */
function workerOf(process: string): string {
  return process.slice(0, process.lastIndexOf('~'))
}

/** The result of a run that has ended; `undefined` if it has not, or its result was left out of a list. */
export function resultOf({ id, tool, state, result }: RunRow): ToolResult | undefined {
  if (state === 'cancelled') return failed('cancelled', tool, '', id)
  return result === null ? undefined : { ...result, run_id: id }
}

/** A result as it is journalled: plain data within bounds. */
export function keptResult(result: ToolResult, executor: ToolExecutor): string {
  const whole = jsonWithin(result)
  if (whole !== undefined) return whole
  const text = executor.text(result).slice(0, MAX_BYTES)
  const { tool_name, execution_time_ms } = result
  const said = result.success
    ? { success: true, result: text }
    : { success: false, error: text, code: result.code }
  return JSON.stringify({ ...said, tool_name, execution_time_ms })
}

const ERRORS = {
  cancelled: (tool: string) => `Tool '${tool}' was cancelled`,
  denied: (tool: string, reason: string) => `Tool '${tool}' was denied: ${reason}`,
  invalid_arguments: (_: string, problem: string) => problem,
  timeout: (tool: string, limit: string) => `Tool '${tool}' timed out after ${limit}`,
  unavailable: (tool: string, cause: string) => `The ${tool} service is unavailable: ${cause}`,
}

export function failed(code: keyof typeof ERRORS, tool: string, why = '', runId?: string): ToolFailure {
  const error = ERRORS[code](tool, why)
  const base = { success: false, error, code, tool_name: tool, execution_time_ms: 0 } as const
  return runId === undefined ? base : { ...base, run_id: runId }
}

/** Of a run whose worker was lost after the intent to invoke the tool. */
export function unknown({ tool, worker }: RunRow): ToolFailure {
  const lost = `worker '${workerOf(worker ?? '')}' was lost while running the call`
  return failed('unavailable', tool, `${lost}; the outcome of the call is unknown`)
}

export function nobodyRuns(tool: string, pool: string, since?: Date | null): ToolFailure {
  const text = `no worker of pool '${pool}' runs it`
  return failed('unavailable', tool, since ? `${text}, since ${since.toISOString()}` : text)
}
