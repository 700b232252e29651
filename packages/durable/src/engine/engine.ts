import { DBOS } from '@dbos-inc/dbos-sdk'
import { runWithAbortableDbRetries } from '@dbos-inc/dbos-sdk/internal/context'
import { DBOSWorkflowConflictError, isWorkflowIDInUseError } from '@dbos-inc/dbos-sdk/internal/error'
import { dbRetryConfig } from '@dbos-inc/dbos-sdk/internal/utils'
import type { Pool } from 'pg'
import type { Logger, ToolResult } from 'toolpost'
import { DatabaseProblem } from '../database/database-problem.ts'
import { ENGINE_SCHEMA } from '../database/schema.ts'
import type { RunAttributes, StoredRun } from '../runs/stored-run.ts'
import { type Claims, takeOver } from './claims.ts'

/*
 * DBOS, one instance per process: journals runs, queues them and hands them to workers. A run is one workflow. Its only
 * step is the intent; its result is the workflow's output. Where DBOS has no public API, claims.ts and three imports here
 * use its internals, which is why its version is pinned.
 */

/** Runs are recovered only by processes of the same version: raise it if the steps of a run change. */
const JOURNAL_VERSION = 'toolpost-1'
/** Gives up on a call that kills every worker that runs it. */
const MAX_ATTEMPTS = 20
/** How often announcements are checked; there is no query unless there is one. */
const POLLING_MS = 15
/** How long a held run stays in the queue, unless somebody decides. */
const FOR_EVER_S = 10 * 365 * 24 * 3_600

const NO_RATE_LIMIT = { limitPerPeriod: 1_000_000, periodSec: 1 }

dbRetryConfig.initialBackoffSec = 0.1
dbRetryConfig.maxBackoffSec = 1

/** Carries a run out. */
type Execute = (id: string, run: StoredRun) => Promise<ToolResult>

let execute: Execute | undefined

const callTool = DBOS.registerWorkflow(
  async (run: StoredRun): Promise<ToolResult> => {
    const id = DBOS.workflowID
    // The process is shutting down: another one takes the run over.
    if (!execute || id === undefined) throw handedOn(id ?? '')
    return execute(id, run)
  },
  { name: 'toolpost.call', maxRecoveryAttempts: MAX_ATTEMPTS },
)

export async function launchEngine(options: {
  pool: Pool
  process: string
  claims: Claims
  execute: Execute
  logger: Logger
}): Promise<void> {
  if (execute) throw new DatabaseProblem('Durable calls are in use in this process already; close them first')
  execute = options.execute
  takeOver(options.claims)
  try {
    DBOS.setConfig({
      name: 'toolpost',
      // Only parsed: the pool does the connecting.
      systemDatabaseUrl: 'postgresql://toolpost@localhost/toolpost',
      systemDatabasePool: options.pool,
      systemDatabaseSchemaName: ENGINE_SCHEMA,
      applicationVersion: JOURNAL_VERSION,
      executorID: options.process,
      useListenNotify: false,
      schedulerPollingIntervalMs: 3_600_000,
      serializer: { name: () => 'toolpost_json', stringify: value => JSON.stringify(value) ?? 'null', parse },
      logger: engineLogger(options.logger),
    })
    await DBOS.launch()
  } catch (error) {
    await stopEngine(0)
    throw error
  }
}

/** Waits up to `drainMs` for running calls; other workers take over the rest. */
export async function stopEngine(drainMs: number): Promise<void> {
  try {
    await DBOS.shutdown({ workflowCompletionTimeoutMS: drainMs })
  } finally {
    execute = undefined
    takeOver(undefined)
  }
}

export interface Admission {
  id: string
  run: StoredRun
  attributes: RunAttributes
  /** Stops the retries if the database is gone. */
  signal: AbortSignal
}

/** A journalled run. `ended` resolves when its result is journalled too; only for runs that start here. */
export interface Admitted {
  ended(): Promise<ToolResult>
}

/** Journals a run and starts it here. `undefined` if the id is already taken. */
export function startRun(admission: Admission): Promise<Admitted | undefined> {
  return admit(admission, {})
}

/** Journals a run for any worker of `queue` to take; with `isHeld`, only after somebody has decided. */
export function enqueueRun(
  admission: Admission,
  { queue, isHeld = false }: { queue: string; isHeld?: boolean },
): Promise<Admitted | undefined> {
  return admit(admission, {
    queueName: queue,
    enqueueOptions: {
      queuePartitionKey: admission.run.tool,
      ...(isHeld && { delaySeconds: FOR_EVER_S }),
    },
  })
}

async function admit({ id, run, attributes, signal }: Admission, how: object): Promise<Admitted | undefined> {
  const params = {
    workflowID: id,
    workflowAttributes: { ...attributes },
    workflowIDReusePolicy: 'reject' as const,
    ...how,
  }
  try {
    const handle = await runWithAbortableDbRetries(signal, () => DBOS.startWorkflow(callTool, params)(run))
    return { ended: () => handle.getResult() }
  } catch (error) {
    if (isWorkflowIDInUseError(error)) return undefined
    throw error
  }
}

/**
 * Journals `nonce` as the intent to invoke the tool, unless there is one already; resolves to the intent in the journal.
 * Rejects if the run no longer belongs to this process. Only inside `execute`.
 */
export function journalIntent(nonce: string): Promise<string> {
  return DBOS.runStep(async () => nonce, { name: 'intent' })
}

/** The error that ends the execution of a run that was handed over. */
export function handedOn(id: string): Error {
  return new DBOSWorkflowConflictError(id)
}

export function cancelRun(id: string): Promise<void> {
  return DBOS.cancelWorkflow(id)
}

export function deleteRuns(ids: string[]): Promise<void> {
  return DBOS.deleteWorkflows(ids)
}

export async function registerQueue(
  name: string,
  { concurrency, perMinute }: { concurrency?: number | undefined; perMinute?: number | undefined } = {},
): Promise<void> {
  await DBOS.registerQueue(name, {
    // Any limit makes a queue partitioned (by tool, here). Each worker has its own limit as well.
    ...(concurrency === undefined
      ? { partitionWorkerConcurrency: 1_000_000 }
      : { partitionConcurrency: concurrency }),
    ...(perMinute !== undefined && { partitionRateLimit: { limitPerPeriod: perMinute, periodSec: 60 } }),
    // With only a concurrency of 1, DBOS would take from all partitions at once, whichever worker they are for.
    ...(concurrency === 1 && perMinute === undefined && { partitionRateLimit: NO_RATE_LIMIT }),
    minPollingIntervalMs: POLLING_MS,
    onConflict: 'always_update',
  })
}

function parse(text: string | null | undefined): unknown {
  return text === null || text === undefined ? null : JSON.parse(text)
}

/** Everything DBOS logs is for debugging only. */
function engineLogger(logger: Logger) {
  const debug = (entry: unknown) => logger.debug({ engine: String(entry).slice(0, 1_000) }, 'DBOS')
  return { debug, info: debug, warn: debug, error: debug }
}
