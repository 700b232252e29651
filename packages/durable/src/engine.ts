import { AsyncLocalStorage } from 'node:async_hooks'
import { DBOS, DBOSClient } from '@dbos-inc/dbos-sdk'
import type { Pool, PoolClient } from 'pg'
import type { Logger } from 'toolpost'
import { DatabaseProblem } from './database.ts'

/*
 * DBOS, one instance per process: queues the attempts of runs and hands them to workers. An attempt is one workflow with one
 * step. Everything here is DBOS's public API.
 */

const APPLICATION = 'toolpost'
const SCHEMA = 'toolpost_engine'
const WORKFLOW = 'toolpost.call'
/** Attempts are taken only by processes of the same version: raise it if the arguments of the workflow change. */
const VERSION = 'toolpost-2'
/** DBOS polls queues with limits, at most two or three times a second in all; queues without limits are not polled. */
const POLL_MS_PER_QUEUE = 400
const LONGEST_POLL_MS = 4_000

export interface Attempt {
  id: string
  attempt: number
}

export interface QueueLimit {
  concurrency?: number | undefined
  perMinute?: number | undefined
}

interface EngineOptions {
  pool: Pool
  /** Unique to this run of the process. */
  process: string
  /** The queues with limits that this process takes attempts from. */
  queues: readonly string[]
  /** How many attempts of one queue this process executes at once. */
  concurrency: number
  limitOf(queue: string): QueueLimit
  /** Executes an attempt. Never rejects. */
  execute(attempt: Attempt): Promise<void>
  logger: Logger
}

let current: EngineOptions | undefined
/** Outside any workflow: what a tool starts is no part of the run that invoked it. */
const outside = AsyncLocalStorage.snapshot()

const workflow = DBOS.registerWorkflow(
  (id: string, attempt: number) =>
    DBOS.runStep(() => outside(async () => current?.execute({ id, attempt })), { name: 'call' }),
  { name: WORKFLOW },
)

export class Engine {
  readonly #client: DBOSClient

  private constructor(client: DBOSClient) {
    this.#client = client
  }

  static async launch(options: EngineOptions): Promise<Engine> {
    if (current)
      throw new DatabaseProblem('Durable calls are in use in this process already; close them first')
    current = options
    const { pool, queues, concurrency } = options
    // Only parsed: the pool does the connecting.
    const systemDatabaseUrl = 'postgresql://toolpost@localhost/toolpost'
    const database = { systemDatabaseUrl, systemDatabasePool: pool, systemDatabaseSchemaName: SCHEMA }
    const logger = loggerOf(options.logger)
    try {
      DBOS.setConfig({
        ...{
          name: APPLICATION,
          ...database,
          applicationVersion: VERSION,
          executorID: options.process,
          logger,
        },
        ...{ listenQueues: [...queues], useListenNotify: false, schedulerPollingIntervalMs: 3_600_000 },
      })
      await DBOS.launch()
      for (const queue of queues) {
        const { concurrency: globalConcurrency, perMinute } = options.limitOf(queue)
        await DBOS.registerQueue(queue, {
          workerConcurrency: Math.min(concurrency, globalConcurrency ?? concurrency),
          ...(globalConcurrency !== undefined && { globalConcurrency }),
          ...(perMinute !== undefined && { rateLimit: { limitPerPeriod: perMinute, periodSec: 60 } }),
          minPollingIntervalMs: Math.min(LONGEST_POLL_MS, POLL_MS_PER_QUEUE * queues.length),
          onConflict: 'always_update',
        })
      }
      return new Engine(await DBOSClient.create({ ...database, applicationName: APPLICATION, logger }))
    } catch (error) {
      await Engine.#shutdown(0)
      throw error
    }
  }

  /** Starts an attempt in this process, whether or not it is queued, too. Resolves when it is journalled. */
  async start({ id, attempt }: Attempt): Promise<void> {
    const workflowID = `${nameOf({ id, attempt })}:${current?.process}`
    const handle = await outside(() => DBOS.startWorkflow(workflow, { workflowID })(id, attempt))
    // Cancelled, or taken over: whatever became of it is in our tables.
    handle.getResult().catch(() => {})
  }

  /** Queues an attempt as part of a transaction. */
  async enqueue(
    client: PoolClient,
    queueName: string,
    { id, attempt }: Attempt,
    delaySeconds: number,
  ): Promise<void> {
    const workflowID = nameOf({ id, attempt })
    const options = { workflowName: WORKFLOW, workflowID, queueName, appVersion: VERSION }
    await this.#client.enqueueInTransaction<typeof workflow>(
      client,
      { ...options, ...(delaySeconds > 0 && { delaySeconds }) },
      id,
      attempt,
    )
  }

  /** Takes back what processes that died had taken. */
  async reclaim(processes: string[]): Promise<Attempt[]> {
    const filter = { status: 'PENDING' as const, executorId: processes, loadInput: false, loadOutput: false }
    const found = (await DBOS.listWorkflows(filter)).map(({ workflowID }) => workflowID)
    // They count against the limits of their queues.
    if (found.length > 0) await DBOS.cancelWorkflows(found)
    return found.map(attemptOf)
  }

  /** Takes an attempt out of its queue. */
  cancel(attempt: Attempt): Promise<void> {
    return DBOS.cancelWorkflow(nameOf(attempt))
  }

  /** Deletes what ended before a time. */
  async clean(before: Date): Promise<void> {
    const filter = {
      completedBefore: before.toISOString(),
      limit: 5_000,
      loadInput: false,
      loadOutput: false,
    }
    const ended = await DBOS.listWorkflows(filter)
    await DBOS.deleteWorkflows(ended.map(({ workflowID }) => workflowID))
  }

  /** Waits up to `drainMs` for what is running here. */
  async stop(drainMs: number): Promise<void> {
    await Engine.#shutdown(drainMs)
  }

  static async #shutdown(drainMs: number): Promise<void> {
    await DBOS.shutdown({ workflowCompletionTimeoutMS: drainMs }).catch(() => {})
    current = undefined
  }
}

function nameOf({ id, attempt }: Attempt): string {
  return `${id}:${attempt}`
}

function attemptOf(workflowID: string): Attempt {
  const [id = '', attempt] = workflowID.split(':')
  return { id, attempt: Number(attempt) }
}

/** Everything DBOS logs is for debugging only. */
function loggerOf(logger: Logger) {
  const debug = (entry: unknown) => logger.debug({ engine: String(entry).slice(0, 1_000) }, 'DBOS')
  return { debug, info: debug, warn: debug, error: debug }
}
