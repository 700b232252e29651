import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { DBOS } from '@dbos-inc/dbos-sdk'
import type { Pool } from 'pg'
import type { CallContext, Interceptor, Progress, ToolResult } from 'toolpost'
import type { DurableOptions, DurableRunOptions } from 'toolpost/project'
import { DatabaseProblem } from './database.ts'
import { cancelled, keptResult, type RunRow, type Store, storedOf, unavailable } from './store.ts'

/*
 * DBOS, one instance per process: an attempt of a run is one workflow, started here or taken from the queue of a server with
 * limits. Everything here is DBOS's public API.
 */

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

interface RunnerOptions extends Pick<DurableOptions, 'executor' | 'logger'> {
  pool: Pool
  store: Store
  /** The name of this process, unique to this run of it. */
  process: string
  /** The queues of servers with limits that this process has, and what they allow. */
  queues: ReadonlyMap<string, { concurrency?: number; perMinute?: number }>
  /** How many runs this process takes at once. */
  concurrency: number
  onEnd(id: string, result: ToolResult): void
}

/** An attempt that this process executes. */
interface Execution {
  readonly row: RunRow
  readonly stop: AbortController
  /** Whether the tool was started. */
  isInvoked: boolean
  /** It continues elsewhere, or has ended: what comes of it here is dropped. */
  isLost: boolean
}

/** A run about to start here, with what its caller passed, and its context, for traces. */
interface Claim {
  row: RunRow
  options: DurableRunOptions
  within: <T>(work: () => T) => T
}

const nameOf = ({ id, attempt }: Pick<RunRow, 'id' | 'attempt'>) => `${id}:${attempt}`

let current: Runner | undefined
/** Outside any workflow: what a tool starts is no part of the run that invoked it. */
const outside = AsyncLocalStorage.snapshot()
const workflow = DBOS.registerWorkflow(
  (id: string, attempt: number) => outside(async () => current?.execute(id, attempt)),
  { name: 'toolpost.call' },
)

/** Executes runs in this process, through the executor like every other call. */
export class Runner {
  readonly #options: RunnerOptions
  readonly #running = new Map<string, Execution>()
  readonly #bySignal = new WeakMap<AbortSignal, Execution>()
  readonly #claimed = new Map<string, Claim>()
  /** Queues that DBOS polls, and what they were given. */
  readonly #polled = new Map<string, Set<string>>()
  #isClosed = false

  private constructor(options: RunnerOptions) {
    this.#options = options
  }

  static async launch(options: RunnerOptions): Promise<Runner> {
    if (current)
      throw new DatabaseProblem('Durable calls are in use in this process already; close them first')
    current = new Runner(options)
    const debug = (entry: unknown) => options.logger?.debug({ engine: String(entry).slice(0, 1_000) }, 'DBOS')
    DBOS.setConfig({
      ...{ name: 'toolpost', executorID: options.process, applicationVersion: VERSION },
      // Only parsed: the pool does the connecting.
      systemDatabaseUrl: 'postgresql://toolpost@localhost/toolpost',
      ...{ systemDatabasePool: options.pool, systemDatabaseSchemaName: SCHEMA, useListenNotify: false },
      ...{ listenQueues: [...options.queues.keys()], schedulerPollingIntervalMs: 3_600_000 },
      logger: { debug, info: debug, warn: debug, error: debug },
    })
    try {
      await DBOS.launch()
      return current
    } catch (error) {
      await current.stop(0)
      throw error
    }
  }

  get ids(): string[] {
    return [...this.#running.keys(), ...this.#claimed.keys()]
  }

  /** How many more runs this process may execute. */
  get room(): number {
    return this.#options.concurrency - this.ids.length
  }

  of(call: CallContext): RunRow | undefined {
    return this.#executionOf(call)?.row
  }

  /** Starts a run that belongs to this process. */
  start(row: RunRow, options: DurableRunOptions = {}): void {
    const { id, attempt } = row
    this.#claimed.set(id, { row, options, within: AsyncLocalStorage.snapshot() })
    const started = outside(() => DBOS.startWorkflow(workflow, { workflowID: nameOf(row) })(id, attempt))
    const giveBack = () => {
      this.#claimed.delete(id)
      void this.#options.store.requeue('id = $2', [id]).catch(() => {})
    }
    started.then(handle => void handle.getResult().catch(() => {}), giveBack)
  }

  /**
   * Hands waiting runs of servers with limits over to DBOS, which keeps the limits on all machines. A queue is registered
   * only while it has runs, because DBOS polls it as long as it is.
   */
  async enqueue(tools: readonly string[]): Promise<void> {
    const { queues, store, concurrency } = this.#options
    if (queues.size === 0) return
    const rows = await store.query(
      `SELECT id, attempt, state, tool, queue FROM toolpost.runs WHERE ended_at IS NULL AND queue = ANY($1)
       ORDER BY created_at LIMIT 1000`,
      [[...queues.keys()]],
    )
    for (const [queueName, { concurrency: all, perMinute }] of queues) {
      const own = rows.filter(({ queue }) => queue === queueName)
      const waiting = own.filter(({ state, tool }) => state === 'waiting' && tools.includes(tool))
      if (own.length === 0 && this.#polled.delete(queueName)) await DBOS.deleteQueue(queueName)
      if (waiting.length === 0) continue
      await DBOS.registerQueue(queueName, {
        workerConcurrency: Math.min(concurrency, all ?? concurrency),
        ...(all !== undefined && { globalConcurrency: all }),
        ...(perMinute !== undefined && { rateLimit: { limitPerPeriod: perMinute, periodSec: 60 } }),
        ...{ minPollingIntervalMs: POLL_MS, onConflict: 'always_update' },
      })
      const given = this.#polled.get(queueName)
      for (const row of waiting.filter(each => !given?.has(nameOf(each))))
        await DBOS.startWorkflow(workflow, { workflowID: nameOf(row), queueName })(row.id, row.attempt)
      this.#polled.set(queueName, new Set(waiting.map(nameOf)))
    }
  }

  /** Returns what processes that died had taken from queues, so that it no longer counts against their limits. */
  async reclaim(dead: string[]): Promise<void> {
    const filter = { executorId: dead, loadInput: false, loadOutput: false }
    for (const { workflowID, queueName } of await DBOS.listWorkflows({ status: 'PENDING', ...filter }))
      await (queueName ? DBOS.resumeWorkflow(workflowID, { queueName }) : DBOS.cancelWorkflow(workflowID))
  }

  /** DBOS's journal of an attempt is of no use once it has ended. */
  async clean(): Promise<void> {
    const completedBefore = new Date(Date.now() - 3_600_000).toISOString()
    const filter = { completedBefore, limit: 5_000, loadInput: false, loadOutput: false }
    await DBOS.deleteWorkflows((await DBOS.listWorkflows(filter)).map(({ workflowID }) => workflowID))
  }

  /** The run has ended, or goes on elsewhere. */
  lose(id: string): void {
    const execution = this.#running.get(id)
    if (execution) execution.isLost = true
    execution?.stop.abort()
  }

  /** Waits up to `drainMs` for what is running here. */
  async stop(drainMs: number): Promise<void> {
    await DBOS.shutdown({ workflowCompletionTimeoutMS: drainMs }).catch(() => {})
    this.#isClosed = true
    for (const id of this.ids) this.lose(id)
    current = undefined
  }

  /** Executes an attempt, unless the run has moved on. Never rejects. */
  async execute(id: string, attempt: number): Promise<void> {
    const { store, executor, process, onEnd } = this.#options
    if (this.#running.has(id)) return
    const claim = this.#claimed.get(id)
    const begin = `state = 'running', worker = $3, started_at = now()
      WHERE id = $1 AND attempt = $2 AND (state = 'waiting' OR state = 'running' AND worker = $3)`
    const isClaimed = claim?.row.attempt === attempt
    const row = isClaimed ? claim.row : await this.#insist(() => store.change(begin, [id, attempt, process]))
    this.#claimed.delete(id)
    if (!row) return
    if (!executor.tools.findTool(row.tool)) {
      // Its server may be starting, or another worker has it.
      await sleep(GIVE_BACK_MS)
      return void (await this.#insist(() => store.requeue('id = $2', [id])))
    }
    const execution = { row, stop: new AbortController(), isInvoked: false, isLost: false }
    this.#running.set(id, execution)
    this.#bySignal.set(execution.stop.signal, execution)
    const run = () => this.#run(execution, claim?.options)
    const result = await (claim ? claim.within(run) : run())
    const kept = keptResult(result, executor)
    const finish = () => store.finish({ ...row, state: 'running' }, kept, execution.isInvoked)
    const isKept = !execution.isLost && (await this.#insist(finish))
    this.#running.delete(id)
    if (isKept) onEnd(id, { ...result, run_id: id })
  }

  /**
   * The innermost interceptor: unless a call is repeatable, its intent is journalled before the tool is invoked. An attempt
   * that cannot journal it was overtaken, and must not invoke the tool.
   */
  readonly interceptor: Interceptor = async (call, next) => {
    const execution = this.#executionOf(call)
    if (!execution || call.failure) return next()
    const { id, attempt, repeatable } = execution.row
    const nonce = `${this.#options.process}/${randomUUID()}`
    const intend = `intent = $3, intent_at = now()
      WHERE id = $1 AND attempt = $2 AND state = 'running' AND (intent IS NULL OR intent = $3)`
    const journal = () => this.#options.store.change(intend, [id, attempt, nonce])
    if (!repeatable && !(await this.#insist(journal))) execution.isLost = true
    if (execution.isLost) return cancelled(call.name)
    const result = await next()
    execution.isInvoked = call.isInvoked
    return result
  }

  /** Not by `call.signal`: that is a different one if somebody observes the executor. */
  #executionOf({ options: { signal } }: CallContext): Execution | undefined {
    return signal && this.#bySignal.get(signal)
  }

  async #run({ row, stop }: Execution, given: DurableRunOptions = {}): Promise<ToolResult> {
    const { tool: name, attempt, origin, caller, deaths } = row
    const { id, args, ...stored } = storedOf(row)
    if (deaths >= MAX_DEATHS)
      return unavailable(name, `its worker died ${deaths} times while running the call`)
    let toldAt = Number.NEGATIVE_INFINITY
    // A caller in this process gets every update, the others a throttled few.
    const onProgress = (progress: Progress) => {
      given.onProgress?.(progress)
      if (performance.now() - toldAt < PROGRESS_EVERY_MS) return
      toldAt = performance.now()
      const change = `progress = $3 WHERE id = $1 AND attempt = $2 AND state = 'running'`
      void this.#options.store.change(change, [row.id, attempt, progress]).catch(() => {})
    }
    const about = { ...stored, origin: origin ?? undefined, caller: caller ?? undefined }
    const options = { ...given, ...about, signal: stop.signal, onProgress }
    return this.#options.executor.run({ id, name, args }, options)
  }

  /** Repeats a query until the database answers; `undefined` if this process is closed first. */
  async #insist<T>(query: () => Promise<T>): Promise<T | undefined> {
    while (!this.#isClosed) {
      try {
        return await query()
      } catch {
        await sleep(RETRY_MS)
      }
    }
    return undefined
  }
}
