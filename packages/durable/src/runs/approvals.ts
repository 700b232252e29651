import type { Pool } from 'pg'
import type { Approval, Decision } from 'toolpost/interceptors'
import type { RunVerdict } from 'toolpost/project'
import { ACTIVE, ENGINE_SCHEMA, SCHEMA } from '../database/schema.ts'

interface ApprovalRow {
  id: string
  run_id: string
  approval: Approval
  asked: string
  expires: string
  decision: 'approved' | 'denied' | 'expired' | null
  decided_by: string | null
  reason: string | null
}

const COLUMNS = `a.id, a.run_id, a.approval, a.decision, a.decided_by, a.reason,
  (extract(epoch FROM a.asked_at) * 1000)::bigint AS asked, (extract(epoch FROM a.expires_at) * 1000)::bigint AS expires`

/** Approvals of runs, kept in the database: every process can see and answer them, and a restart loses none. */
export class RunApprovals {
  readonly #pool: Pool
  readonly #waiting = new Map<string, (verdict: RunVerdict) => void>()

  constructor(pool: Pool) {
    this.#pool = pool
  }

  /** Asks about a run, once: asking again keeps the deadline, or returns the verdict. */
  async ask(runId: string, approval: Approval): Promise<RunVerdict | undefined> {
    await this.#pool.query(
      `INSERT INTO ${SCHEMA}.approvals (id, run_id, approval, expires_at)
       VALUES ($1, $2, $3, now() + $4 * interval '1 millisecond') ON CONFLICT DO NOTHING`,
      [approval.id, runId, JSON.stringify(approval), approval.expiresAt - approval.askedAt],
    )
    return this.verdictOn(runId)
  }

  /** What was decided; `undefined` if nobody has decided, or nobody was asked. */
  async verdictOn(runId: string): Promise<RunVerdict | undefined> {
    return (await this.#verdicts([runId])).get(runId)
  }

  /** Resolves when somebody decides about the run. */
  decided(runId: string): Promise<RunVerdict> {
    return new Promise(resolve => this.#waiting.set(runId, resolve))
  }

  stopWaiting(runId: string): void {
    this.#waiting.delete(runId)
  }

  /** Passes decisions made elsewhere to those waiting here. */
  async look(): Promise<void> {
    if (this.#waiting.size === 0) return
    for (const [runId, verdict] of await this.#verdicts([...this.#waiting.keys()])) {
      this.#waiting.get(runId)?.(verdict)
      this.#waiting.delete(runId)
    }
  }

  /** The first decision counts. Resolves to the run's id; `undefined` if no approval with this id is waiting. */
  async decide(id: string, decision: 'approve' | 'deny', about: Decision): Promise<string | undefined> {
    const { rows } = await this.#pool.query<{ run_id: string }>(
      `UPDATE ${SCHEMA}.approvals SET decision = $2, decided_by = $3, reason = $4
       WHERE id = $1 AND decision IS NULL AND expires_at > now() RETURNING run_id`,
      [id, decision === 'approve' ? 'approved' : 'denied', about.by ?? null, about.reason ?? null],
    )
    return rows[0]?.run_id
  }

  /** Denies what nobody answered in time, by the database's clock. Resolves to the ids of the runs. */
  async expire(): Promise<string[]> {
    const { rows } = await this.#pool.query<{ run_id: string }>(
      `UPDATE ${SCHEMA}.approvals SET decision = 'expired' WHERE decision IS NULL AND expires_at <= now() RETURNING run_id`,
    )
    return rows.map(row => row.run_id)
  }

  /** The run was cancelled: no answer is needed. */
  async withdraw(runId: string): Promise<void> {
    await this.#pool.query(
      `UPDATE ${SCHEMA}.approvals SET decision = 'denied', reason = 'the call was cancelled'
       WHERE run_id = $1 AND decision IS NULL`,
      [runId],
    )
  }

  async forget(runIds: readonly string[]): Promise<void> {
    await this.#pool.query(`DELETE FROM ${SCHEMA}.approvals WHERE run_id = ANY($1)`, [runIds])
  }

  /** All approvals waiting for a decision, oldest first. */
  async list(): Promise<Approval[]> {
    const { rows } = await this.#pool.query<ApprovalRow>(
      `SELECT ${COLUMNS} FROM ${SCHEMA}.approvals a
       JOIN ${ENGINE_SCHEMA}.workflow_status s ON s.workflow_uuid = a.run_id
       WHERE a.decision IS NULL AND a.expires_at > now() AND s.status IN ${ACTIVE}
       ORDER BY a.asked_at LIMIT 1000`,
    )
    return rows.map(row => ({
      ...row.approval,
      id: row.id,
      askedAt: Number(row.asked),
      expiresAt: Number(row.expires),
      state: 'waiting',
    }))
  }

  async #verdicts(runIds: string[]): Promise<Map<string, RunVerdict>> {
    const { rows } = await this.#pool.query<ApprovalRow>(
      `SELECT ${COLUMNS} FROM ${SCHEMA}.approvals a WHERE a.run_id = ANY($1) AND a.decision IS NOT NULL`,
      [runIds],
    )
    return new Map(rows.map(row => [row.run_id, verdictOf(row)]))
  }
}

function verdictOf(row: ApprovalRow): RunVerdict {
  const { decision, decided_by: by } = row
  const approved = decision === 'approved'
  return { approved, reason: approved ? '' : reasonOf(row), ...(by !== null && { by }) }
}

function reasonOf({ decision, decided_by: by, reason, asked, expires }: ApprovalRow): string {
  if (decision === 'expired') return `nobody answered within ${durationText(Number(expires) - Number(asked))}`
  return reason ?? (by === null ? 'it was denied' : `denied by ${by}`)
}

const UNITS: readonly [string, number][] = [
  ['days', 24 * 3_600_000],
  ['hours', 3_600_000],
  ['minutes', 60_000],
]

function durationText(milliseconds: number): string {
  const [name, size] = UNITS.find(([, unit]) => milliseconds >= 2 * unit) ?? ['s', 1_000]
  return `${Math.round((milliseconds / size) * 10) / 10} ${name}`
}
