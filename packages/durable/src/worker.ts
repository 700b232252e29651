import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { DBOS } from '@dbos-inc/dbos-sdk'
import type { CallContext, Interceptor, Progress, ToolResult } from 'toolpost'
import type { DurableOptions, DurableRunOptions } from 'toolpost/project'
import type { Database } from './database.ts'
import { DatabaseProblem } from './postgres.ts'
import { cancelled, journalled, type RunRow, unavailable } from './run.ts'

/** Attempts are taken only by processes of the same version: raise it if the arguments of the workflow change. */
const VERSION = 'toolpost-3'
const POLL_MS = 40
const PROGRESS_EVERY_MS = 250
const RETRY_MS = 200
/** What DBOS may take to note which workflows have ended, before it is shut down. */
const JOURNAL_MS = 1_000
/** Gives up on a call that kills every worker that runs it. */
const MAX_DEATHS = 20

/** An attempt that this process executes, with what its caller passed. */
interface Execution {
  row: RunRow
  given: DurableRunOptions
  /** Aborted if it continues elsewhere, or has ended: what comes of it here is dropped. */
  stop: AbortController
  ended: Promise<void>
  isInvoked?: boolean
}

let current: ReturnType<typeof createWorker> | undefined
/** Outside any workflow: what a tool starts is no part of the run that invoked it. */
const outside = AsyncLocalStorage.snapshot()
const workflow = DBOS.registerWorkflow(
  (id: string, attempt: number) => outside(async () => current?.perform(id, attempt)),
  { name: 'toolpost.call' },
)
const nameOf = ({ id, attempt }: Pick<RunRow, 'id' | 'attempt'>) => `${id}:${attempt}`

/** The execution that a call in the executor belongs to. */
export function executionOf({ options }: CallContext): Execution | undefined {
  return (options as { execution?: Execution }).execution
}

/**
 * Executes runs in this process, through the executor like every other call. An attempt is one DBOS workflow, started here or
 * taken from the queue of a server with limits. Everything is DBOS's public API.
 */
export function createWorker(database: Database, options: DurableOptions, onEnd: (row: RunRow) => unknown) {
  const { executor, logger, pool = 'default', concurrency = 16, limits = {}, role } = options
  const takesRuns = role !== 'gateway' && concurrency > 0
  /** The queues of servers with limits that this process takes runs from. */
  const queues = takesRuns ? Object.keys(limits).map(server => `${pool}/${server}`) : []
  /** Those that DBOS polls, and what they were given. */
  const polled = new Map<string, string[]>()
  const running = new Map<string, Execution>()
  /** Attempts that were started here, by the name of their workflow, until that has ended too. */
  const started = new Map<string, Promise<void>>()
  let isStopping = false
  let isClosed = false

  async function shutDown(): Promise<void> {
    await DBOS.shutdown({ workflowCompletionTimeoutMS: JOURNAL_MS }).catch(() => {})
    current = undefined
  }

  /** Repeats a query until the database answers; `undefined` if this process is closed first. */
  async function insist<T>(query: () => Promise<T>): Promise<T | undefined> {
    while (!isClosed) {
      try {
        return await query()
      } catch {
        await sleep(RETRY_MS)
      }
    }
    return undefined
  }

  function begin(row: RunRow, given: DurableRunOptions = {}): Promise<void> {
    const execution: Execution = { row, given, stop: new AbortController(), ended: Promise.resolve() }
    running.set(row.id, execution)
    execution.ended = execute(execution)
    return execution.ended
  }

  /** Executes an attempt and ends its run, unless that has moved on meanwhile. Never rejects. */
  async function execute(execution: Execution): Promise<void> {
    const { row, stop } = execution
    const { id, tool, deaths } = row
    const isHere = executor.tools.findTool(tool) !== undefined
    const deadly = unavailable(tool, `its worker died ${deaths} times while running the call`)
    const result = isHere && deaths < MAX_DEATHS ? await run(execution) : deadly
    const finish = () => database.finish(row, result, execution.isInvoked, journalled(result, executor))
    // Its server may be starting, or another worker has it.
    const giveBack = () => sleep(1_000).then(() => database.move('giveBack', row))
    const ended = stop.signal.aborted ? undefined : await insist(isHere ? finish : giveBack)
    // The next attempt may have begun.
    if (running.get(id) === execution) running.delete(id)
    if (ended?.ended_at) onEnd(ended)
    worker.take()
  }

  function run(execution: Execution): Promise<ToolResult> {
    const { row, given, stop } = execution
    const { id, args, ...stored } = row.call
    let toldAt = Number.NEGATIVE_INFINITY
    // A caller in this process gets every update, the others a throttled few.
    const onProgress = (progress: Progress) => {
      given.onProgress?.(progress)
      if (performance.now() - toldAt < PROGRESS_EVERY_MS) return
      toldAt = performance.now()
      void database.move('progress', row, progress).catch(() => {})
    }
    const about = { ...stored, origin: row.origin ?? undefined, caller: row.caller ?? undefined }
    const all = { ...given, ...about, signal: stop.signal, onProgress, execution }
    return executor.run({ id, name: row.tool, args }, all)
  }

  /**
   * Hands waiting runs of servers with limits over to DBOS, which keeps the limits on all machines. A queue is registered
   * only while it has runs, because DBOS polls it as long as it is.
   */
  async function enqueue(tools: readonly string[]): Promise<void> {
    const all = queues.length > 0 ? await database.active(queues) : []
    for (const queueName of queues) {
      const rows = all.filter(({ queue }) => queue === queueName)
      const waiting = rows.filter(({ state, tool }) => state === 'waiting' && tools.includes(tool))
      if (rows.length === 0 && polled.delete(queueName)) await DBOS.deleteQueue(queueName)
      if (waiting.length === 0) continue
      const { concurrency: most, perMinute } = limits[queueName.slice(pool.length + 1)] ?? {}
      await DBOS.registerQueue(queueName, {
        workerConcurrency: Math.min(concurrency, most ?? concurrency),
        ...(most !== undefined && { globalConcurrency: most }),
        ...(perMinute !== undefined && { rateLimit: { limitPerPeriod: perMinute, periodSec: 60 } }),
        minPollingIntervalMs: POLL_MS,
        onConflict: 'always_update',
      })
      const known = polled.get(queueName)
      for (const row of waiting.filter(each => !known?.includes(nameOf(each))))
        await DBOS.startWorkflow(workflow, { workflowID: nameOf(row), queueName })(row.id, row.attempt)
      polled.set(queueName, waiting.map(nameOf))
    }
  }

  const worker = {
    /** By the id of their runs. */
    running: running as ReadonlyMap<string, Execution>,

    async launch(): Promise<void> {
      if (current)
        throw new DatabaseProblem('Durable calls are in use in this process already; close them first')
      const debug = (entry: unknown) => logger?.debug({ engine: String(entry).slice(0, 1_000) }, 'DBOS')
      DBOS.setConfig({
        name: 'toolpost',
        executorID: database.process,
        applicationVersion: VERSION,
        // Only parsed: the pool does the connecting.
        systemDatabaseUrl: 'postgresql://toolpost@localhost/toolpost',
        systemDatabasePool: database.pool,
        systemDatabaseSchemaName: 'toolpost_engine',
        useListenNotify: false,
        listenQueues: queues,
        schedulerPollingIntervalMs: 3_600_000,
        logger: { debug, info: debug, warn: debug, error: debug },
      })
      current = worker
      await DBOS.launch().catch(error => shutDown().then(() => Promise.reject(error)))
    },

    /** Waits up to `drainMs` for what is running here. */
    async stop(drainMs: number): Promise<void> {
      isStopping = true
      await worker.take()
      const ended = [...running.values()].map(execution => execution.ended)
      await Promise.race([Promise.all(ended), sleep(drainMs, undefined, { ref: false })])
      isClosed = true
      for (const { stop } of running.values()) stop.abort()
      if (current === worker) await shutDown()
    },

    /** Starts a run that belongs to this process, at once: DBOS journals it meanwhile, and tries again if it cannot. */
    start(row: RunRow, given?: DurableRunOptions): void {
      const workflowID = nameOf(row)
      started.set(workflowID, begin(row, given))
      const journalling = outside(() => DBOS.startWorkflow(workflow, { workflowID })(row.id, row.attempt))
      const ended = journalling.then(handle => handle.getResult()).catch(() => {})
      void ended.then(() => started.delete(workflowID))
    },

    /** Starts as many waiting runs as there is room for. */
    take: oneAtATime(async () => {
      if (!takesRuns || current !== worker || isStopping) return
      const names = executor.tools.getTools().map(({ name }) => name)
      await enqueue(names)
      const room = concurrency - running.size
      if (room > 0) for (const row of await database.claim(names, queues, room)) worker.start(row)
    }),

    /**
     * Returns what dead processes had taken from queues, so that it no longer counts against their limits. DBOS's journal of
     * an attempt is of no use once it has ended.
     */
    async clean(executorId: string[]): Promise<void> {
      const ids = { loadInput: false, loadOutput: false } as const
      const orphaned = { ...ids, status: 'PENDING', executorId } as const
      for (const { workflowID, queueName } of executorId.length > 0 ? await DBOS.listWorkflows(orphaned) : [])
        await (queueName ? DBOS.resumeWorkflow(workflowID, { queueName }) : DBOS.cancelWorkflow(workflowID))
      const completedBefore = new Date(Date.now() - 3_600_000).toISOString()
      const ended = await DBOS.listWorkflows({ ...ids, completedBefore, limit: 5_000 })
      if (ended.length > 0) await DBOS.deleteWorkflows(ended.map(({ workflowID }) => workflowID))
    },

    /** What a workflow does: an attempt that was started here, or comes from a queue. */
    async perform(id: string, attempt: number): Promise<void> {
      const own = started.get(nameOf({ id, attempt }))
      if (own) return own
      const row = await insist(() => database.move('begin', { id, attempt }, database.process))
      if (row) await begin(row)
    },

    /**
     * Unless a call is repeatable, its intent is journalled before the tool is invoked. An attempt that cannot journal it was
     * overtaken, and must not invoke the tool.
     */
    async invoke(execution: Execution, ...[call, next]: Parameters<Interceptor>): Promise<ToolResult> {
      const { row, stop } = execution
      const nonce = `${database.process}/${randomUUID()}`
      if (!row.repeatable && !(await insist(() => database.move('intend', row, nonce)))) stop.abort()
      if (stop.signal.aborted) return cancelled(call.name)
      const result = await next()
      execution.isInvoked = call.isInvoked
      return result
    },
  }
  return worker
}

/** Runs `work` again if it was asked for meanwhile, but never twice at once. What fails is tried again the next time. */
export function oneAtATime(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  let isWanted = false
  const loop = async () => {
    for (; isWanted; await work().catch(() => {})) isWanted = false
    running = undefined
  }
  return () => {
    isWanted = true
    running ??= loop()
    return running
  }
}
