import { createHash } from 'node:crypto'
import type { Pool, PoolClient } from 'pg'
import type { ToolCall, ToolExecutor, ToolFailure, ToolResult } from 'toolpost'
import type { Approval, Decision } from 'toolpost/interceptors'
import {
  type DurableRunOptions,
  type Run,
  type RunFilter,
  type RunState,
  type RunStep,
  safeValue,
} from 'toolpost/project'
import { CHANNEL, DatabaseProblem } from './database.ts'
import type { Attempt } from './engine.ts'

/** The version this release reads and writes. */
const SCHEMA_VERSION = 2
/** DBOS needs `gen_random_uuid` and `xid8`. */
const OLDEST_SERVER = 130_000
const MAX_ARGUMENT_BYTES = 1_000_000
/** Larger results are stored as the text a model would read. */
const MAX_RESULT_BYTES = 1_000_000
const LISTED_RESULT = 10_000
const MAX_LISTED = 500
const FORGET_AT_ONCE = 5_000

/*
 * Runs live in our own tables; DBOS only knows which attempt of which run it has to start. A run changes by single
 * statements that name the state and attempt they expect, so whoever comes second changes nothing.
 */
const TABLES = `
  CREATE SCHEMA IF NOT EXISTS toolpost;
  CREATE TABLE IF NOT EXISTS toolpost.meta (version integer NOT NULL);
  CREATE TABLE IF NOT EXISTS toolpost.workers (
    process text PRIMARY KEY, id text NOT NULL, pool text NOT NULL, role text NOT NULL, host text NOT NULL,
    pid integer NOT NULL, lock_key integer NOT NULL, started_at timestamptz NOT NULL DEFAULT now(),
    seen_at timestamptz NOT NULL DEFAULT now(), gone_at timestamptz, published_at timestamptz,
    tools json NOT NULL DEFAULT '[]'
  );
  CREATE TABLE IF NOT EXISTS toolpost.runs (
    id text PRIMARY KEY, tool text NOT NULL, pool text NOT NULL, queue text NOT NULL, is_limited boolean NOT NULL,
    repeatable boolean NOT NULL, name text NOT NULL,
    call text NOT NULL, call_hash text NOT NULL, caller text, origin text, key text,
    state text NOT NULL, attempt integer NOT NULL DEFAULT 1, deaths integer NOT NULL DEFAULT 0, worker text, intent text,
    approval json, asked_at timestamptz, expires_at timestamptz, decision text, decided_by text, reason text,
    result text, is_final boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(), started_at timestamptz, intent_at timestamptz,
    ended_at timestamptz
  );
  CREATE INDEX IF NOT EXISTS runs_created ON toolpost.runs (created_at, id);
  CREATE INDEX IF NOT EXISTS runs_active ON toolpost.runs (worker) WHERE ended_at IS NULL;
  CREATE INDEX IF NOT EXISTS runs_ended ON toolpost.runs (ended_at);
  CREATE OR REPLACE FUNCTION toolpost.tell() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    PERFORM pg_notify('${CHANNEL}', json_build_object('run', NEW.id, 'state', NEW.state,
      'attempt', NEW.attempt, 'queue', NEW.queue, 'tool', NEW.tool,
      'asks', NEW.state = 'approval' OR (TG_OP = 'UPDATE' AND OLD.state = 'approval'))::text);
    RETURN NULL;
  END $$;
  CREATE OR REPLACE TRIGGER runs_tell AFTER INSERT OR UPDATE OF state ON toolpost.runs
    FOR EACH ROW EXECUTE FUNCTION toolpost.tell();
  INSERT INTO toolpost.meta SELECT ${SCHEMA_VERSION} WHERE NOT EXISTS (SELECT FROM toolpost.meta);
`

/** Creates our tables if necessary. Throws a `DatabaseProblem`, with nothing changed, if the database cannot be used. */
export async function prepareDatabase(pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ number: string; version: string; meta: string | null }>(
    `SELECT current_setting('server_version_num') AS number, current_setting('server_version') AS version,
       to_regclass('toolpost.meta')::text AS meta`,
  )
  const { number = '', version = '', meta = null } = rows[0] ?? {}
  if (Number(number) < OLDEST_SERVER)
    throw new DatabaseProblem(
      `PostgreSQL ${version} is too old: durable calls need 13 or newer. Upgrade the server, or set "durable": true to use an embedded one`,
    )
  if (meta !== null) {
    const found = (await pool.query<{ version: number }>('SELECT version FROM toolpost.meta')).rows[0]
      ?.version
    const about = `(its schema version is ${found}, this release supports ${SCHEMA_VERSION})`
    if (found !== undefined && found > SCHEMA_VERSION)
      throw new DatabaseProblem(
        `The database belongs to a newer Toolpost ${about}. Upgrade Toolpost here, or use another database`,
      )
    if (found !== undefined && found < SCHEMA_VERSION)
      throw new DatabaseProblem(
        `The database belongs to an older Toolpost ${about}. Use another database, or drop its schemas 'toolpost' and 'toolpost_engine' if no run in them matters any more`,
      )
  }
  await pool.query(TABLES)
}

/** All that another process needs to execute a run. */
export interface StoredCall {
  args?: unknown
  call_id?: string | undefined
  timeout_ms?: number | undefined
  repair?: boolean | undefined
  meta?: Readonly<Record<string, unknown>> | undefined
}

export interface RunRow {
  id: string
  tool: string
  pool: string
  queue: string
  /** DBOS keeps the limits of its queue. */
  is_limited: boolean
  /** Read-only or idempotent: may be executed again after a crash. */
  repeatable: boolean
  /** As its caller knows the tool. */
  name: string
  call: string
  call_hash: string
  caller: string | null
  origin: string | null
  key: string | null
  state: RunState
  attempt: number
  /** How many workers died with it. */
  deaths: number
  worker: string | null
  intent: string | null
  approval: Approval | null
  decision: 'approved' | 'denied' | null
  decided_by: string | null
  result: string | null
  is_final: boolean
  created_at: Date
  asked_at: Date | null
  expires_at: Date | null
  started_at: Date | null
  intent_at: Date | null
  ended_at: Date | null
}

/** A run about to be accepted. */
export interface NewRun
  extends Pick<
    RunRow,
    'id' | 'tool' | 'pool' | 'queue' | 'is_limited' | 'repeatable' | 'name' | 'call' | 'call_hash'
  > {
  options: DurableRunOptions
  /** The process it starts in, without a queue. */
  worker?: string | undefined
}

/** The call as it is journalled. Throws if it cannot be serialized or is too large. */
export function storedCall(call: ToolCall, options: DurableRunOptions): string {
  const { timeoutMs, repair, meta } = options
  const stored: StoredCall = {
    ...{ args: call.args, call_id: call.id, timeout_ms: timeoutMs, repair, meta },
  }
  const text = JSON.stringify(stored)
  if (Buffer.byteLength(text) > MAX_ARGUMENT_BYTES)
    throw new Error(`the arguments exceed the limit of ${MAX_ARGUMENT_BYTES} bytes for durable calls`)
  return text
}

/** Equal for equal values, whatever the order of their keys. */
export function hashOf(value: unknown): string {
  const sorted = JSON.stringify(value, (_, inner: unknown) => {
    if (inner === null || typeof inner !== 'object' || Array.isArray(inner)) return inner
    return Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
  })
  return createHash('sha256').update(sorted).digest('hex')
}

/** Our queries. */
export class Store {
  readonly pool: Pool

  constructor(pool: Pool) {
    this.pool = pool
  }

  /**
   * Inserts a run, or starts one over that was refused before its tool ran. `undefined` if the id is taken.
   */
  async insert(client: Pick<Pool, 'query'>, run: NewRun): Promise<RunRow | undefined> {
    const { id, tool, pool, queue, is_limited, repeatable, name, call, call_hash, worker, options } = run
    const { caller, origin, key, approval, approved } = options
    const state = approval ? 'approval' : worker === undefined ? 'waiting' : 'running'
    const asked = approval && { ...approvalOf(run), because: approval.because }
    const { rows } = await client.query<RunRow>(
      `INSERT INTO toolpost.runs (id, tool, pool, queue, name, call, call_hash, caller, origin, key, state, worker,
         started_at, decision, approval, asked_at, expires_at, is_limited, repeatable)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, CASE WHEN $11 = 'running' THEN now() END, $13, $14,
         CASE WHEN $11 = 'approval' THEN now() END, now() + $15::float8 * interval '1 millisecond', $16, $17)
       ON CONFLICT (id) DO UPDATE SET queue = $4, is_limited = $16, pool = $3, call = $6, state = $11, worker = $12, decision = $13,
         approval = $14, attempt = runs.attempt + 1, result = NULL, reason = NULL, decided_by = NULL,
         asked_at = EXCLUDED.asked_at, expires_at = EXCLUDED.expires_at, started_at = EXCLUDED.started_at, intent = NULL,
         intent_at = NULL, ended_at = NULL, created_at = clock_timestamp()
       WHERE runs.state = 'failed' AND NOT runs.is_final AND runs.tool = $2 AND runs.call_hash = $7
       RETURNING *`,
      [
        ...[id, tool, pool, queue, name, call, call_hash, caller, origin, key, state, worker],
        ...[approved ? 'approved' : null, asked, approval?.timeoutMs ?? null, is_limited, repeatable],
      ],
    )
    return rows[0]
  }

  /** Takes waiting runs of queues without limits. */
  async take(about: {
    queues: readonly string[]
    tools: string[]
    room: number
    worker: string
  }): Promise<RunRow[]> {
    const { queues, tools, room, worker } = about
    const { rows } = await this.pool.query<RunRow>(
      `UPDATE toolpost.runs SET state = 'running', worker = $4, started_at = now() WHERE id IN (
         SELECT id FROM toolpost.runs WHERE ended_at IS NULL AND state = 'waiting' AND NOT is_limited
           AND queue = ANY($1) AND tool = ANY($2) ORDER BY created_at LIMIT $3 FOR UPDATE SKIP LOCKED) RETURNING *`,
      [queues, tools, room, worker],
    )
    return rows
  }

  /** Begins an attempt that DBOS took from a queue; `undefined` if the run no longer waits for it. */
  begin(id: string, attempt: number, worker: string): Promise<RunRow | undefined> {
    return this.#change(
      `state = 'running', worker = $3, started_at = now()
       WHERE id = $1 AND attempt = $2 AND (state = 'waiting' OR (state = 'running' AND worker = $3))`,
      [id, attempt, worker],
    )
  }

  /** Journals the intent to invoke the tool; `false` if the run belongs to somebody else by now. */
  async intend(id: string, attempt: number, nonce: string): Promise<boolean> {
    const row = await this.#change(
      `intent = $3, intent_at = now()
       WHERE id = $1 AND attempt = $2 AND state = 'running' AND (intent IS NULL OR intent = $3)`,
      [id, attempt, nonce],
    )
    return row !== undefined
  }

  /** Journals a result; `false` if the run has ended, or continues elsewhere. */
  async finish(
    { id, attempt }: Attempt,
    { result, isFinal }: { result: ToolResult; isFinal: boolean },
    client?: PoolClient,
  ): Promise<boolean> {
    const row = await this.#change(
      `state = $3, result = $4, is_final = $5, ended_at = now()
       WHERE id = $1 AND attempt = $2 AND ended_at IS NULL`,
      [id, attempt, result.success ? 'done' : 'failed', JSON.stringify(result), isFinal],
      client,
    )
    return row !== undefined
  }

  cancel(id: string): Promise<RunRow | undefined> {
    return this.#change(
      `state = 'cancelled', is_final = true, ended_at = now() WHERE id = $1 AND ended_at IS NULL`,
      [id],
    )
  }

  /** Gives a run back that has not invoked its tool, for the next attempt. */
  requeue(client: PoolClient, { id, attempt }: Attempt, deaths: number): Promise<RunRow | undefined> {
    return this.#change(
      `state = 'waiting', attempt = attempt + 1, deaths = deaths + $3, worker = NULL, started_at = NULL
       WHERE id = $1 AND attempt = $2 AND ended_at IS NULL AND intent IS NULL AND state <> 'approval'`,
      [id, attempt, deaths],
      client,
    )
  }

  /** Takes a run back from its worker until a person has decided. */
  park(id: string, attempt: number, asked: Approval): Promise<RunRow | undefined> {
    return this.#change(
      `state = 'approval', attempt = attempt + 1, worker = NULL, started_at = NULL, approval = $3, asked_at = now(),
         expires_at = now() + $4::float8 * interval '1 millisecond'
       WHERE id = $1 AND attempt = $2 AND state = 'running' AND intent IS NULL`,
      [id, attempt, asked, asked.expiresAt - asked.askedAt],
    )
  }

  /** The first decision counts; `undefined` if no approval with this id is waiting. */
  decide(
    client: PoolClient,
    approvalId: string,
    about: Decision & { isApproved: boolean },
  ): Promise<RunRow | undefined> {
    const { isApproved, by, reason } = about
    return this.#change(
      `decision = $2, decided_by = $3, reason = $4, state = CASE WHEN $2 = 'approved' THEN 'waiting' ELSE state END
       WHERE approval->>'id' = $1 AND state = 'approval' AND decision IS NULL AND expires_at > now()`,
      [approvalId, isApproved ? 'approved' : 'denied', by ?? null, reason ?? null],
      client,
    )
  }

  /** Runs that wait for a worker, or were not decided about in time. */
  async waiting(): Promise<RunRow[]> {
    const { rows } = await this.pool.query<RunRow>(
      `SELECT * FROM toolpost.runs WHERE ended_at IS NULL
         AND (state = 'waiting' OR (state = 'approval' AND expires_at <= now())) LIMIT 1000`,
    )
    return rows
  }

  /** Approvals waiting for a decision, oldest first. */
  async approvals(): Promise<Approval[]> {
    const { rows } = await this.pool.query<{ approval: Approval; asked: string; expires: string }>(
      `SELECT approval, extract(epoch FROM asked_at) * 1000 AS asked, extract(epoch FROM expires_at) * 1000 AS expires
       FROM toolpost.runs WHERE ended_at IS NULL AND state = 'approval' AND expires_at > now()
       ORDER BY asked_at LIMIT 1000`,
    )
    return rows.map(({ approval, asked, expires }) => ({
      ...approval,
      ...{ askedAt: Math.round(Number(asked)), expiresAt: Math.round(Number(expires)), state: 'waiting' },
    }))
  }

  async read(ids: readonly string[]): Promise<RunRow[]> {
    const { rows } = await this.pool.query<RunRow>('SELECT * FROM toolpost.runs WHERE id = ANY($1)', [ids])
    return rows
  }

  /** Newest first, without large results. */
  async list({ tool, caller, state, before, limit = 50 }: RunFilter): Promise<RunRow[]> {
    const { rows } = await this.pool.query<RunRow>(
      `SELECT *, CASE WHEN length(result) > ${LISTED_RESULT} THEN NULL ELSE result END AS result FROM toolpost.runs
       WHERE ($1::text IS NULL OR tool = $1) AND ($2::text IS NULL OR caller = $2) AND ($3::text IS NULL OR state = $3)
         AND ($4::text IS NULL OR (created_at, id) < (SELECT created_at, id FROM toolpost.runs WHERE id = $4))
       ORDER BY created_at DESC, id DESC LIMIT $5`,
      [tool, caller, state, before, Math.min(Math.max(1, Math.trunc(limit)), MAX_LISTED)],
    )
    return rows
  }

  /** Deletes some of the runs that ended more than `days` days ago, so that nothing is blocked for long. */
  async forget(days: number): Promise<void> {
    await this.pool.query(
      `DELETE FROM toolpost.runs WHERE id IN (SELECT id FROM toolpost.runs
         WHERE ended_at < now() - $1::float8 * interval '1 day' LIMIT ${FORGET_AT_ONCE})`,
      [days],
    )
  }

  async #change(
    change: string,
    values: unknown[],
    client: Pick<Pool, 'query'> = this.pool,
  ): Promise<RunRow | undefined> {
    const { rows } = await client.query<RunRow>(`UPDATE toolpost.runs SET ${change} RETURNING *`, values)
    return rows[0]
  }
}

function approvalOf({ id, tool, call, options }: NewRun): Omit<Approval, 'askedAt' | 'expiresAt'> {
  const { args } = JSON.parse(call) as StoredCall
  const { origin, caller } = options
  return {
    id: `about_${id}_${hashOf([id, Date.now()]).slice(0, 8)}`,
    tool,
    args,
    origin,
    caller,
    state: 'waiting',
  }
}

/** A run as it is shown. */
export function runOf(row: RunRow): Run {
  const { id, tool, state, attempt, pool } = row
  const worker = row.worker === null ? undefined : workerOf(row.worker)
  const iso = (time: Date | null) => time?.toISOString()
  const result = resultOf(row)
  return {
    ...{ id, tool, args: safeValue(storedOf(row).args ?? {}), state, pool, worker },
    attempts: row.started_at || row.ended_at ? attempt : attempt - 1,
    caller: row.caller ?? undefined,
    origin: row.origin ?? undefined,
    key: row.key ?? undefined,
    created_at: row.created_at.toISOString(),
    started_at: iso(row.started_at),
    ended_at: iso(row.ended_at),
    steps: stepsOf(row, worker),
    ...(result && { result }),
  }
}

function stepsOf(row: RunRow, worker: string | undefined): RunStep[] {
  const steps: [string, Date | null, string | undefined][] = [
    ['accepted', row.created_at, undefined],
    ['asked', row.asked_at, undefined],
    ['started', row.started_at, worker],
    ['intent', row.intent_at, undefined],
    ['ended', row.ended_at, worker],
  ]
  return steps.flatMap(([name, time, by]) =>
    time ? [{ name, at: time.toISOString(), ...(by !== undefined && { worker: by }) }] : [],
  )
}

export function storedOf({ call }: Pick<RunRow, 'call'>): StoredCall {
  return JSON.parse(call)
}

/** The result of a run that has ended; `undefined` if it has not, or its result was left out of a list. */
export function resultOf({ id, tool, state, result }: RunRow): ToolResult | undefined {
  if (state === 'cancelled') return cancelled(tool, id)
  return result === null ? undefined : { ...JSON.parse(result), run_id: id }
}

/** The stable id within the name of a process. */
export function workerOf(process: string): string {
  return process.slice(0, process.lastIndexOf('~'))
}

/** A result as it is journalled: plain data within bounds. Never throws. */
export function keptResult(result: ToolResult, executor: ToolExecutor): ToolResult {
  try {
    const whole = JSON.stringify(result)
    if (Buffer.byteLength(whole) <= MAX_RESULT_BYTES) return JSON.parse(whole)
  } catch {
    // Its text can be kept.
  }
  const { tool_name, execution_time_ms, tool_call_id } = result
  const base = { tool_name, execution_time_ms, ...(tool_call_id !== undefined && { tool_call_id }) }
  const text = executor.text(result).slice(0, MAX_RESULT_BYTES)
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

export function cancelled(tool: string, runId?: string): ToolFailure {
  return failed(tool, 'cancelled', `Tool '${tool}' was cancelled`, runId)
}

export function denied(tool: string, reason: string): ToolFailure {
  return failed(tool, 'denied', `Tool '${tool}' was denied: ${reason}`)
}

export function nobodyRuns(pools: readonly string[], since: string | undefined): string {
  const text = `no worker of pool ${pools.map(pool => `'${pool}'`).join(', ')} runs it`
  return since === undefined ? text : `${text}, since ${since}`
}
