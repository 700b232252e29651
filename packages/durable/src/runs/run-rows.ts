import type { Pool } from 'pg'
import type { ToolResult } from 'toolpost'
import { type Run, type RunFilter, type RunState, type RunStep, safeValue } from 'toolpost/project'
import { ACTIVE, ENGINE_SCHEMA, SCHEMA } from '../database/schema.ts'
import { workerOf } from '../workers/identity.ts'
import { cancelled, unavailable } from './kept-result.ts'
import type { RunAttributes, StoredRun } from './stored-run.ts'

interface RunRow {
  id: string
  status: string
  executor: string | null
  created: string
  started: string | null
  completed: string | null
  attempts: number
  attributes: RunAttributes
  inputs: string | null
  output: string | null
  error: string | null
  intent: string | null
  asked: string | null
  isAsked: boolean
}

const LISTED_RESULT = 10_000
const MAX_LISTED = 500

const SELECT = (maxResult: number) => `
  SELECT s.workflow_uuid AS id, s.status, s.executor_id AS executor, s.created_at AS created,
    s.started_at_epoch_ms AS started, s.completed_at AS completed, s.recovery_attempts::int AS attempts, s.attributes,
    i.inputs, CASE WHEN length(o.output) <= ${maxResult} THEN o.output ELSE left(o.output, 20) END AS output, o.error,
    (SELECT min(retention_timestamp) FROM ${ENGINE_SCHEMA}.operation_outputs p WHERE p.workflow_uuid = s.workflow_uuid) AS intent,
    (extract(epoch FROM a.asked_at) * 1000)::bigint AS asked,
    a.run_id IS NOT NULL AND a.decision IS NULL AS "isAsked"
  FROM ${ENGINE_SCHEMA}.workflow_status s
    LEFT JOIN ${ENGINE_SCHEMA}.workflow_input i USING (workflow_uuid)
    LEFT JOIN ${ENGINE_SCHEMA}.workflow_output o USING (workflow_uuid)
    LEFT JOIN ${SCHEMA}.approvals a ON a.run_id = s.workflow_uuid`

/** Conditions for each state. A failed call is a success to the engine; only the start of the journalled result tells. */
const IN_STATE: Readonly<Record<RunState, string>> = {
  waiting: `s.status IN ('ENQUEUED', 'DELAYED') AND (a.run_id IS NULL OR a.decision IS NOT NULL)`,
  approval: `s.status IN ${ACTIVE} AND a.run_id IS NOT NULL AND a.decision IS NULL`,
  running: `s.status = 'PENDING' AND (a.run_id IS NULL OR a.decision IS NOT NULL)`,
  done: `s.status = 'SUCCESS' AND o.output LIKE '{"success":true%'`,
  failed: `(s.status IN ('ERROR', 'MAX_RECOVERY_ATTEMPTS_EXCEEDED') OR (s.status = 'SUCCESS' AND o.output NOT LIKE '{"success":true%'))`,
  cancelled: `s.status = 'CANCELLED'`,
}

export async function readRuns(pool: Pool, ids: readonly string[]): Promise<Run[]> {
  const { rows } = await pool.query<RunRow>(`${SELECT(2 ** 30)} WHERE s.workflow_uuid = ANY($1)`, [ids])
  return rows.map(row => runOf(row))
}

/** Newest first, without large results. */
export async function listRuns(pool: Pool, filter: RunFilter): Promise<Run[]> {
  const { tool, caller, state, before, limit = 50 } = filter
  const attributes = JSON.stringify({ tool, caller })
  const conditions = [
    's.attributes @> $1::jsonb',
    ...(state ? [IN_STATE[state]] : []),
    ...(before === undefined
      ? []
      : [
          `(s.created_at, s.workflow_uuid) < (SELECT created_at, workflow_uuid FROM ${ENGINE_SCHEMA}.workflow_status WHERE workflow_uuid = $3)`,
        ]),
  ]
  const size = Math.min(Math.max(1, Math.trunc(limit)), MAX_LISTED)
  const { rows } = await pool.query<RunRow>(
    `${SELECT(LISTED_RESULT)} WHERE ${conditions.join(' AND ')}
     ORDER BY s.created_at DESC, s.workflow_uuid DESC LIMIT $2`,
    [attributes, size, ...(before === undefined ? [] : [before])],
  )
  return rows.map(row => runOf(row))
}

/** The run as it was accepted. */
export async function readStored(
  pool: Pool,
  id: string,
): Promise<{ run: StoredRun; attributes: RunAttributes } | undefined> {
  const { rows } = await pool.query<Pick<RunRow, 'inputs' | 'attributes'>>(
    `SELECT i.inputs, s.attributes FROM ${ENGINE_SCHEMA}.workflow_status s
     JOIN ${ENGINE_SCHEMA}.workflow_input i USING (workflow_uuid) WHERE workflow_uuid = $1`,
    [id],
  )
  return rows[0] && { run: storedOf(rows[0].inputs), attributes: rows[0].attributes }
}

/** The results of those runs that have ended. */
export async function readEnded(pool: Pool, ids: readonly string[]): Promise<Map<string, ToolResult>> {
  const { rows } = await pool.query<RunRow>(
    `SELECT s.workflow_uuid AS id, s.status, s.attributes, s.recovery_attempts::int AS attempts, o.output, o.error
     FROM ${ENGINE_SCHEMA}.workflow_status s LEFT JOIN ${ENGINE_SCHEMA}.workflow_output o USING (workflow_uuid)
     WHERE s.workflow_uuid = ANY($1) AND s.status NOT IN ${ACTIVE}`,
    [ids],
  )
  return new Map(
    rows.map(row => [
      row.id,
      resultOf(row) ?? unavailable(row.attributes.tool, 'its result is damaged', row.id),
    ]),
  )
}

function runOf(row: RunRow): Run {
  const { id, attributes, attempts } = row
  const { tool, pool, caller, origin, key } = attributes
  const stored = storedOf(row.inputs)
  const state = stateOf(row)
  const isEnded = state === 'done' || state === 'failed' || state === 'cancelled'
  const worker = row.executor && attempts > 0 && state !== 'waiting' ? workerOf(row.executor) : undefined
  return {
    ...{ id, tool, args: safeValue(stored.args ?? {}), state, attempts, pool, caller, origin, key, worker },
    created_at: timeOf(row.created) ?? '',
    started_at: timeOf(startOf(row, state)),
    ended_at: isEnded ? timeOf(row.completed) : undefined,
    steps: stepsOf(row, worker),
    result: isEnded ? resultOf(row) : undefined,
  }
}

/** A run that was never queued started when it was accepted. */
function startOf({ started, intent, created, attempts }: RunRow, state: RunState) {
  const isWaiting = state === 'waiting' || state === 'approval'
  return started ?? intent ?? (attempts > 0 && !isWaiting && state !== 'cancelled' ? created : null)
}

function stateOf({ status, isAsked, output }: RunRow): RunState {
  if (status === 'CANCELLED') return 'cancelled'
  if (status === 'SUCCESS') return output?.startsWith('{"success":true') ? 'done' : 'failed'
  if (status === 'ERROR' || status === 'MAX_RECOVERY_ATTEMPTS_EXCEEDED') return 'failed'
  if (isAsked) return 'approval'
  return status === 'PENDING' ? 'running' : 'waiting'
}

function stepsOf(row: RunRow, worker: string | undefined): RunStep[] {
  const steps: [string, string | null, string | undefined][] = [
    ['accepted', row.created, undefined],
    ['asked', row.asked, undefined],
    ['claimed', row.started, worker],
    ['intent', row.intent, undefined],
    ['ended', row.completed, worker],
  ]
  return steps.flatMap(([name, time, by]) => {
    const at = timeOf(time)
    return at === undefined ? [] : [{ name, at, ...(by !== undefined && { worker: by }) }]
  })
}

/** The journalled result, or one made from the engine's state; `undefined` if the result was left out. */
function resultOf({ id, status, output, error, attributes, attempts }: RunRow): ToolResult | undefined {
  const { tool } = attributes
  if (status === 'CANCELLED') return cancelled(tool, id)
  if (status === 'MAX_RECOVERY_ATTEMPTS_EXCEEDED')
    return unavailable(tool, `its worker died ${attempts} times while running the call`, id)
  if (status === 'ERROR')
    return unavailable(tool, parsed<{ message?: string }>(error)?.message ?? 'its worker failed', id)
  const result = parsed<ToolResult>(output)
  return result && { ...result, run_id: id }
}

function storedOf(inputs: string | null): StoredRun {
  return parsed<[StoredRun]>(inputs)?.[0] ?? { tool: '', pool: '', repeatable: false }
}

function parsed<T>(text: string | null): T | undefined {
  try {
    return text === null ? undefined : (JSON.parse(text) ?? undefined)
  } catch {
    return undefined
  }
}

function timeOf(milliseconds: string | number | null): string | undefined {
  return milliseconds === null ? undefined : new Date(Number(milliseconds)).toISOString()
}
