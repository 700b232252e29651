import { createHash, randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import type { Progress, RunOptions, ToolCall, ToolExecutor, ToolFailure, ToolResult } from 'toolpost'
import type { Approval } from 'toolpost/interceptors'
import { type DurableRunOptions, type Run, type RunState, safeValue } from 'toolpost/project'
import { CHANNEL, DatabaseProblem, LOCKS } from './database.ts'

/** The version this release reads and writes. */
const SCHEMA_VERSION = 3
/** Larger arguments are refused; larger results are stored as the text a model would read. */
const MAX_BYTES = 1_000_000
const DEFAULT_APPROVAL_MS = 24 * 3_600_000

/*
 * Runs live in our own tables; DBOS only knows which attempt of which run it has to start. A run changes by single
 * statements that name the state and attempt they expect, so whoever comes second changes nothing.
 *
 * A process is live while it holds its advisory lock and is never silent for long; for a moment it may be without its lock,
 * to reconnect. It is dead otherwise, but not before everybody has had the time to return after PostgreSQL started.
 */
const TABLES = `
  CREATE SCHEMA IF NOT EXISTS toolpost;
  CREATE TABLE IF NOT EXISTS toolpost.meta (version integer NOT NULL, silence interval NOT NULL DEFAULT '8 s');
  CREATE TABLE IF NOT EXISTS toolpost.workers (
    process text PRIMARY KEY, id text NOT NULL, pool text NOT NULL, role text NOT NULL, host text NOT NULL,
    pid integer NOT NULL, lock_key integer NOT NULL, started_at timestamptz NOT NULL DEFAULT now(),
    seen_at timestamptz NOT NULL DEFAULT now(), closed boolean NOT NULL DEFAULT false, published_at timestamptz,
    tools jsonb NOT NULL DEFAULT '[]'
  );
  CREATE OR REPLACE VIEW toolpost.processes AS SELECT *,
      NOT live AND now() - pg_postmaster_start_time() > interval '4 s' AS dead
    FROM (SELECT w.*, NOT closed AND (seen_at > now() - interval '1.5 s' OR seen_at > now() - (SELECT silence FROM toolpost.meta)
      AND EXISTS (SELECT FROM pg_locks l WHERE l.locktype = 'advisory' AND l.granted
        AND l.classid::bigint = ${LOCKS} AND l.objsubid = 2 AND l.objid::bigint = w.lock_key
        AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()))) AS live
      FROM toolpost.workers w) p;
  CREATE TABLE IF NOT EXISTS toolpost.runs (
    id text PRIMARY KEY, tool text NOT NULL, pool text NOT NULL, queue text, repeatable boolean NOT NULL,
    name text NOT NULL, call text NOT NULL, call_hash text NOT NULL, caller text, origin text, key text,
    state text NOT NULL, attempt integer NOT NULL DEFAULT 1, deaths integer NOT NULL DEFAULT 0, worker text, intent text,
    approval json, asked_at timestamptz, patience_ms float8, decision text, decided_by text, progress json,
    result text, is_final boolean NOT NULL DEFAULT false, created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    started_at timestamptz, intent_at timestamptz, ended_at timestamptz
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
  INSERT INTO toolpost.meta SELECT ${SCHEMA_VERSION} WHERE NOT EXISTS (SELECT FROM toolpost.meta);
`

/** Creates our tables if necessary. Throws a `DatabaseProblem`, with nothing changed, if they are of another version. */
export async function prepareDatabase(pool: Pool): Promise<void> {
  const found = await pool
    .query('SELECT version FROM toolpost.meta')
    .then(({ rows }) => rows[0]?.version ?? SCHEMA_VERSION)
    // 42P01: there is no such table yet.
    .catch(error => (error.code === '42P01' ? SCHEMA_VERSION : Promise.reject(error)))
  const versions = `(its schema version is ${found}, this release supports ${SCHEMA_VERSION})`
  if (found > SCHEMA_VERSION)
    throw new DatabaseProblem(
      `The database belongs to a newer Toolpost ${versions}. Upgrade Toolpost here, or use another database`,
    )
  if (found < SCHEMA_VERSION)
    throw new DatabaseProblem(
      `The database belongs to an older Toolpost ${versions}. Use another database, or drop its schemas 'toolpost' and 'toolpost_engine' if no run in them matters any more`,
    )
  await pool.query(TABLES)
}

/** A person still has time to decide about a run. */
export const IN_TIME = "asked_at + patience_ms * interval '1 ms' > now()"

/** All that another process needs to execute a run. */
interface StoredCall extends Pick<RunOptions, 'timeoutMs' | 'repair' | 'meta'> {
  id?: string | undefined
  args?: unknown
}

/**
 * A run about to be accepted. `repeatable`: read-only or idempotent, so it may be executed again after a crash. `queue`: of
 * DBOS, which keeps the limits of its server, if it has any. `name`: as its caller knows the tool.
 */
export interface NewRun extends Record<'id' | 'tool' | 'pool' | 'name' | 'call' | 'call_hash', string> {
  repeatable: boolean
  queue: string | null
  worker: string | null
}

type NullableText = 'caller' | 'origin' | 'key' | 'intent' | 'decision' | 'decided_by' | 'result'
type Times = Record<'asked_at' | 'started_at' | 'intent_at' | 'ended_at', Date | null>

/** `deaths`: how many workers died with it. `patience_ms`: how long a person is asked. */
export interface RunRow extends NewRun, Record<NullableText, string | null>, Times {
  state: RunState
  attempt: number
  deaths: number
  approval: Approval | null
  patience_ms: number | null
  progress: Progress | null
  created_at: Date
}

/** The call as it is journalled. Throws if it cannot be serialized or is too large. */
export function storedCall({ id, args }: ToolCall, { timeoutMs, repair, meta }: DurableRunOptions): string {
  const text = JSON.stringify({ id, args, timeoutMs, repair, meta } satisfies StoredCall)
  if (Buffer.byteLength(text) > MAX_BYTES)
    throw new Error(`the arguments exceed the limit of ${MAX_BYTES} bytes for durable calls`)
  return text
}

export function storedOf({ call }: Pick<RunRow, 'call'>): StoredCall {
  return JSON.parse(call)
}

/** Equal for equal values, whatever the order of their keys. */
export function hashOf(value: unknown): string {
  const sorted = JSON.stringify(value, (_, inner: unknown) => {
    if (inner === null || typeof inner !== 'object' || Array.isArray(inner)) return inner
    return Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
  })
  return createHash('sha256').update(sorted).digest('hex')
}

/** Our queries, in words of the runs they return. */
export class Store {
  readonly #pool: Pool

  constructor(pool: Pool) {
    this.#pool = pool
  }

  async query<T extends object = RunRow>(text: string, values: unknown[] = []): Promise<T[]> {
    return (await this.#pool.query<T>(text, values)).rows
  }

  /** Changes a run; `undefined` if there is none in the state and attempt that the change expects. */
  async change(change: string, values: unknown[]): Promise<RunRow | undefined> {
    return (await this.query(`UPDATE toolpost.runs SET ${change} RETURNING *`, values))[0]
  }

  read(ids: readonly string[]): Promise<RunRow[]> {
    return this.query('SELECT * FROM toolpost.runs WHERE id = ANY($1)', [ids])
  }

  /** Inserts a run, or starts one over that was refused before its tool ran. `undefined` if the id is taken. */
  async insert(
    run: NewRun,
    options: DurableRunOptions,
    pools: readonly string[],
  ): Promise<RunRow | undefined> {
    const { caller, origin, key, approval, approved } = options
    const { timeoutMs = DEFAULT_APPROVAL_MS, ...asks } = approval ?? {}
    const about = { tool: run.tool, args: storedOf(run).args, origin, caller, ...asks }
    const state = approval ? 'approval' : run.worker === null ? 'waiting' : 'running'
    const row = {
      ...{ ...run, caller, origin, key, state, decision: approved ? 'approved' : null, decided_by: null },
      approval: approval && { id: `about_${randomUUID()}`, ...about, state: 'waiting' },
      patience_ms: approval ? timeoutMs : null,
      ...{ asked_at: approval ? 'now' : null, started_at: state === 'running' ? 'now' : null },
      ...{ result: null, progress: null, intent: null, intent_at: null, ended_at: null },
    }
    const names = Object.keys(row)
    const [inserted] = await this.query(
      `INSERT INTO toolpost.runs (${names}) VALUES (${names.map((_, index) => `$${index + 1}`)})
       ON CONFLICT (id) DO UPDATE SET ${names.map(name => `${name} = EXCLUDED.${name}`)}, attempt = runs.attempt + 1,
         created_at = clock_timestamp()
       WHERE runs.state = 'failed' AND NOT runs.is_final AND runs.tool = EXCLUDED.tool
         AND runs.call_hash = EXCLUDED.call_hash AND runs.pool = ANY($${names.length + 1}) RETURNING *`,
      [...Object.values(row), pools],
    )
    return inserted
  }

  /** Journals a result; `undefined` if the run has ended, or has moved on from that state or attempt. */
  finish({ id, attempt, state }: RunRow, result: ToolResult, isFinal: boolean): Promise<RunRow | undefined> {
    return this.change(
      `state = $4, result = $5, is_final = $6, ended_at = now() WHERE id = $1 AND attempt = $2 AND state = $3`,
      [id, attempt, state, result.success ? 'done' : 'failed', JSON.stringify(result), isFinal],
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

/** The approval that a run waits for, by the database's clock. */
export function approvalOf({ approval, asked_at, patience_ms }: RunRow): Approval {
  const askedAt = Number(asked_at)
  return { ...(approval as Approval), askedAt, expiresAt: askedAt + Number(patience_ms), state: 'waiting' }
}

/** A run as it is shown. */
export function runOf(row: RunRow): Run {
  const { id, tool, state, attempt, pool } = row
  const worker = row.worker === null ? undefined : workerOf(row.worker)
  const result = resultOf(row)
  const times = {
    accepted: row.created_at,
    asked: row.asked_at,
    started: row.started_at,
    intent: row.intent_at,
  }
  const steps = Object.entries({ ...times, ended: row.ended_at }).flatMap(([name, at]) => {
    const by = name === 'started' || name === 'ended' ? worker : undefined
    return at ? [{ name, at: at.toISOString(), ...(by !== undefined && { worker: by }) }] : []
  })
  return {
    ...{ id, tool, args: safeValue(storedOf(row).args ?? {}), state, pool, worker, steps },
    attempts: row.started_at || row.ended_at ? attempt : attempt - 1,
    ...{ caller: row.caller ?? undefined, origin: row.origin ?? undefined, key: row.key ?? undefined },
    created_at: row.created_at.toISOString(),
    ...{ started_at: row.started_at?.toISOString(), ended_at: row.ended_at?.toISOString() },
    ...(state === 'running' && row.progress && { progress: row.progress }),
    ...(result && { result }),
  }
}

/** The result of a run that has ended; `undefined` if it has not, or its result was left out of a list. */
export function resultOf({ id, tool, state, result }: RunRow): ToolResult | undefined {
  if (state === 'cancelled') return cancelled(tool, id)
  return result === null ? undefined : { ...JSON.parse(result), run_id: id }
}

/** The stable id within the name of a process. */
function workerOf(process: string): string {
  return process.slice(0, process.lastIndexOf('~'))
}

/** A result as it is journalled: plain data within bounds. Never throws. */
export function keptResult(result: ToolResult, executor: ToolExecutor): ToolResult {
  try {
    const whole = JSON.stringify(result)
    if (Buffer.byteLength(whole) <= MAX_BYTES) return JSON.parse(whole)
  } catch {
    // Its text can be kept.
  }
  const { tool_name, execution_time_ms } = result
  const text = executor.text(result).slice(0, MAX_BYTES)
  const base = { tool_name, execution_time_ms }
  if (!result.success) return { success: false, error: text, code: result.code, ...base }
  return { success: true, result: text, ...base }
}

export function failed(tool: string, code: ToolFailure['code'], error: string, runId?: string): ToolFailure {
  const base = { success: false, error, code, tool_name: tool, execution_time_ms: 0 } as const
  return runId === undefined ? base : { ...base, run_id: runId }
}

export function unavailable(tool: string, cause: string, runId?: string): ToolFailure {
  return failed(tool, 'unavailable', `The ${tool} service is unavailable: ${cause}`, runId)
}

/** Of a run whose worker was lost after the intent to invoke the tool. */
export function unknown({ tool, worker }: RunRow): ToolFailure {
  const lost = `worker '${workerOf(worker ?? '')}' was lost while running the call`
  return unavailable(tool, `${lost}; the outcome of the call is unknown`)
}

export function cancelled(tool: string, runId?: string): ToolFailure {
  return failed(tool, 'cancelled', `Tool '${tool}' was cancelled`, runId)
}

export function denied(tool: string, reason: string): ToolFailure {
  return failed(tool, 'denied', `Tool '${tool}' was denied: ${reason}`)
}

export function nobodyRuns(tool: string, pools: readonly string[], since?: Date | null): ToolFailure {
  const text = `no worker of pool ${pools.map(pool => `'${pool}'`).join(', ')} runs it`
  return unavailable(tool, since ? `${text}, since ${since.toISOString()}` : text)
}
