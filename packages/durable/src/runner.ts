import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { DBOS } from '@dbos-inc/dbos-sdk'
import type { CallContext, Interceptor, Progress, ToolResult } from 'toolpost'
import type { DurableOptions, DurableRunOptions } from 'toolpost/project'
import { DatabaseProblem } from './database.ts'
import { failed, keptResult, type RunRow } from './run.ts'
import type { Store } from './store.ts'

const SCHEMA = 'toolpost_engine'
/** Attempts are taken only by processes of the same version: raise it if the arguments of the workflow change. */
const VERSION = 'toolpost-3'
const POLL_MS = 40
const PROGRESS_EVERY_MS = 250
const RETRY_MS = 200
/** How long a worker waits before it gives a run back whose tool it does not have. */
const GIVE_BACK_MS = 1_000
/** Gives up on a call that kills every worker that runs it. */
const MAX_DEATHS = 20

/** An attempt that this process executes, with what its caller passed. */
interface Execution {
  row: RunRow
  given: DurableRunOptions
  stop: AbortController
  isBegun?: boolean
  /** Whether the tool was started. */
  isInvoked?: boolean
  /** It continues elsewhere, or has ended: what comes of it here is dropped. */
  isLost?: boolean
}

interface RunnerOptions extends DurableOptions {
  store: Store
  concurrency: number
  /** The queues of servers with limits that this process takes runs from. */
  queues: ReadonlyMap<string, { concurrency?: number; perMinute?: number }>
  onEnd(row: RunRow, result: ToolResult): void
}

const nameOf = ({ id, attempt }: RunRow) => `${id}:${attempt}`

let current: ReturnType<typeof createRunner> | undefined
/** Outside any workflow: what a tool starts is no part of the run that invoked it. */
const outside = AsyncLocalStorage.snapshot()
const workflow = DBOS.registerWorkflow(
  (id: string, attempt: number) => outside(async () => current?.execute(id, attempt)),
  { name: 'toolpost.call' },
)

/** The execution that a call in the executor belongs to. */
export function executionOf({ options }: CallContext): Execution | undefined {
  return (options as { execution?: Execution }).execution
}

/**
 * Executes runs in this process, through the executor like every other call. An attempt is one DBOS workflow, started here or
 * taken from the queue of a server with limits. Everything is DBOS's public API.
 */
export function createRunner({ store, executor, queues, concurrency, logger, onEnd }: RunnerOptions) {
  const { process } = store
  const running = new Map<string, Execution>()
  /** Queues that DBOS polls, and what they were given. */
  const polled = new Map<string, string[]>()
  let isClosed = false

  async function shutDown(drainMs: number): Promise<void> {
    await DBOS.shutdown({ workflowCompletionTimeoutMS: drainMs }).catch(() => {})
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

  function add(row: RunRow, given: DurableRunOptions = {}): void {
    running.set(row.id, { row, given, stop: new AbortController() })
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
      const change = `progress = $3 WHERE id = $1 AND attempt = $2 AND state = 'running'`
      void store.change(change, [row.id, row.attempt, progress]).catch(() => {})
    }
    const about = { ...stored, origin: row.origin ?? undefined, caller: row.caller ?? undefined }
    const all = { ...given, ...about, signal: stop.signal, onProgress, execution }
    return executor.run({ id, name: row.tool, args }, all)
  }

  const runner = {
    /** By the id of their runs. */
    running: running as ReadonlyMap<string, Execution>,

    async launch(): Promise<void> {
      if (current)
        throw new DatabaseProblem('Durable calls are in use in this process already; close them first')
      const debug = (entry: unknown) => logger?.debug({ engine: String(entry).slice(0, 1_000) }, 'DBOS')
      DBOS.setConfig({
        ...{ name: 'toolpost', executorID: process, applicationVersion: VERSION },
        // Only parsed: the pool does the connecting.
        systemDatabaseUrl: 'postgresql://toolpost@localhost/toolpost',
        ...{ systemDatabasePool: store.pool, systemDatabaseSchemaName: SCHEMA, useListenNotify: false },
        ...{ listenQueues: [...queues.keys()], schedulerPollingIntervalMs: 3_600_000 },
        logger: { debug, info: debug, warn: debug, error: debug },
      })
      current = runner
      await DBOS.launch().catch(error => shutDown(0).then(() => Promise.reject(error)))
    },

    /** Waits up to `drainMs` for what is running here. */
    async stop(drainMs: number): Promise<void> {
      if (current === runner) await shutDown(drainMs)
      isClosed = true
      for (const execution of running.values()) runner.lose(execution)
    },

    /** Starts a run that belongs to this process. */
    start(row: RunRow, given?: DurableRunOptions): void {
      add(row, given)
      const { id, attempt } = row
      const started = outside(() => DBOS.startWorkflow(workflow, { workflowID: nameOf(row) })(id, attempt))
      const giveBack = () => {
        running.delete(id)
        void store.requeue('id = $2', [id]).catch(() => {})
      }
      started.then(handle => void handle.getResult().catch(() => {}), giveBack)
    },

    /**
     * Hands waiting runs of servers with limits over to DBOS, which keeps the limits on all machines. A queue is registered
     * only while it has runs, because DBOS polls it as long as it is.
     */
    async enqueue(tools: readonly string[]): Promise<void> {
      const isActive = 'ended_at IS NULL AND queue = ANY($1) ORDER BY created_at LIMIT 1000'
      const active = `SELECT id, attempt, state, tool, queue FROM toolpost.runs WHERE ${isActive}`
      const all = queues.size > 0 ? await store.query(active, [[...queues.keys()]]) : []
      for (const [queueName, limit] of queues) {
        const rows = all.filter(({ queue }) => queue === queueName)
        const waiting = rows.filter(({ state, tool }) => state === 'waiting' && tools.includes(tool))
        if (rows.length === 0 && polled.delete(queueName)) await DBOS.deleteQueue(queueName)
        if (waiting.length === 0) continue
        await DBOS.registerQueue(queueName, {
          workerConcurrency: Math.min(concurrency, limit.concurrency ?? concurrency),
          ...(limit.concurrency !== undefined && { globalConcurrency: limit.concurrency }),
          ...(limit.perMinute !== undefined && {
            rateLimit: { limitPerPeriod: limit.perMinute, periodSec: 60 },
          }),
          ...{ minPollingIntervalMs: POLL_MS, onConflict: 'always_update' },
        })
        const known = polled.get(queueName)
        for (const row of waiting.filter(each => !known?.includes(nameOf(each))))
          await DBOS.startWorkflow(workflow, { workflowID: nameOf(row), queueName })(row.id, row.attempt)
        polled.set(queueName, waiting.map(nameOf))
      }
    },

    /** Returns what processes that died had taken from queues, so that it no longer counts against their limits. */
    async reclaim(executorId: string[]): Promise<void> {
      const filter = { status: 'PENDING', executorId, loadInput: false, loadOutput: false } as const
      for (const { workflowID, queueName } of await DBOS.listWorkflows(filter))
        await (queueName ? DBOS.resumeWorkflow(workflowID, { queueName }) : DBOS.cancelWorkflow(workflowID))
    },

    /** DBOS's journal of an attempt is of no use once it has ended. */
    async clean(): Promise<void> {
      const completedBefore = new Date(Date.now() - 3_600_000).toISOString()
      const filter = { completedBefore, limit: 5_000, loadInput: false, loadOutput: false }
      await DBOS.deleteWorkflows((await DBOS.listWorkflows(filter)).map(({ workflowID }) => workflowID))
    },

    /** The run has ended, or goes on elsewhere. */
    lose(execution: Execution | undefined): void {
      if (execution) execution.isLost = true
      execution?.stop.abort()
    },

    /** Executes an attempt, unless the run has moved on. Never rejects. */
    async execute(id: string, attempt: number): Promise<void> {
      const begin = `state = 'running', worker = $3, started_at = now()
        WHERE id = $1 AND attempt = $2 AND (state = 'waiting' OR state = 'running' AND worker = $3)`
      if (running.get(id)?.row.attempt !== attempt) {
        const row = await insist(() => store.change(begin, [id, attempt, process]))
        if (row) add(row)
      }
      const execution = running.get(id)
      if (!execution || execution.isBegun || execution.row.attempt !== attempt) return
      execution.isBegun = true
      const { row } = execution
      const { tool, deaths } = row
      const isKnown = executor.tools.findTool(tool) !== undefined
      const deadly = failed('unavailable', tool, `its worker died ${deaths} times while running the call`)
      const result = isKnown && deaths < MAX_DEATHS ? await run(execution) : deadly
      // Its server may be starting, or another worker has it.
      if (!isKnown) await sleep(GIVE_BACK_MS)
      const finish = () =>
        isKnown
          ? store.finish(
              { ...row, state: 'running' },
              result,
              execution.isInvoked,
              keptResult(result, executor),
            )
          : store.requeue('id = $2', [id])
      const changed = execution.isLost ? undefined : await insist(finish)
      // The next attempt may have begun.
      if (running.get(id) === execution) running.delete(id)
      if (changed?.ended_at) onEnd(changed, { ...result, run_id: id })
    },

    /**
     * Unless a call is repeatable, its intent is journalled before the tool is invoked. An attempt that cannot journal it was
     * overtaken, and must not invoke the tool.
     */
    async invoke(execution: Execution, ...[call, next]: Parameters<Interceptor>): Promise<ToolResult> {
      const { id, attempt, repeatable } = execution.row
      const intend = `intent = $3, intent_at = now()
        WHERE id = $1 AND attempt = $2 AND state = 'running' AND (intent IS NULL OR intent = $3)`
      const nonce = `${process}/${randomUUID()}`
      const journal = () => store.change(intend, [id, attempt, nonce])
      if (!repeatable && !(await insist(journal))) execution.isLost = true
      if (execution.isLost) return failed('cancelled', call.name)
      const result = await next()
      execution.isInvoked = call.isInvoked
      return result
    },
  }
  return runner
}
