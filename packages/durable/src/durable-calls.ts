import { hostname } from 'node:os'
import {
  type CallContext,
  type Logger,
  type Progress,
  silentLogger,
  type ToolCall,
  type ToolResult,
} from 'toolpost'
import type { Approval, Decision } from 'toolpost/interceptors'
import type {
  AcceptedRun,
  Durable,
  DurableChange,
  DurableOptions,
  DurableRunOptions,
  DurableStatus,
  DurableWorker,
  OfferedTool,
  PublishedTool,
  RefusedRun,
  Run,
  RunFilter,
  RunVerdict,
} from 'toolpost/project'
import { acceptRun } from './accept-run.ts'
import { Connection } from './connection.ts'
import { type DatabaseProblem, problemOf } from './database/database-problem.ts'
import { openDatabase } from './database/open-database.ts'
import { cancelRun } from './engine/engine.ts'
import { isActive } from './runs/held-runs.ts'
import { cancelled, unavailable } from './runs/kept-result.ts'
import { RunChanges } from './runs/run-changes.ts'
import { listRuns, readRuns, readStored } from './runs/run-rows.ts'
import { waitForVerdict } from './runs/wait-for-verdict.ts'
import { Standing } from './standing.ts'
import { TIMES, type Times } from './times.ts'

const RETRY_START_MS = 2_000
const DEFAULT_DRAIN_MS = 10_000

/** Durable calls, from connecting to the database to closing it. */
export class DurableCalls implements Durable {
  readonly #options: DurableOptions
  readonly #logger: Logger
  readonly #times: Times
  readonly #standing: Standing
  readonly #changes: RunChanges
  #connection: Connection | undefined
  #removeInterceptor: (() => void) | undefined
  #ready: Promise<void>
  #retry: NodeJS.Timeout | undefined
  #published: readonly PublishedTool[] = []
  #stopDatabase: (() => Promise<void>) | undefined
  #closing: Promise<void> | undefined

  constructor(options: DurableOptions, times: Times = TIMES) {
    this.#options = options
    this.#times = times
    this.#logger = options.logger ?? silentLogger
    this.#standing = new Standing(this.#logger, options.onNotice)
    this.#changes = new RunChanges({
      read: async ids => (this.#connection ? readRuns(this.#connection.database, ids) : []),
      isWatched: () => this.#standing.isWatched,
      tell: run => this.#standing.tell({ type: 'run', run }),
    })
    this.#ready = this.#start()
  }

  ready(): Promise<void> {
    return this.#ready
  }

  status(): DurableStatus {
    return this.#standing.status
  }

  async run(call: ToolCall, options: DurableRunOptions = {}): Promise<ToolResult> {
    const { signal, key } = options
    if (signal?.aborted) return cancelled(call.name)
    const accepted = await this.accept(call, options)
    if ('refused' in accepted) return accepted.refused
    if (!signal) return accepted.result
    const { id, result } = accepted
    return new Promise(resolve => {
      const giveUp = () => {
        // With a key, others may be waiting for the same run, and the caller may come back to it.
        if (key === undefined) void this.cancel(id).catch(() => {})
        resolve(cancelled(call.name, id))
      }
      signal.addEventListener('abort', giveUp, { once: true })
      if (signal.aborted) giveUp()
      void result.then(resolve).finally(() => signal.removeEventListener('abort', giveUp))
    })
  }

  async accept(call: ToolCall, options: DurableRunOptions = {}): Promise<AcceptedRun | RefusedRun> {
    const connection = this.#connection
    if (!connection?.isOpen || this.#closing) return { refused: unavailable(call.name, this.#why()) }
    const { onProgress } = options
    const accepted = await acceptRun(connection, call, options)
    if (onProgress && 'id' in accepted && !connection.carrier.isExpected(accepted.id)) {
      const stop = this.#changes.follow(accepted.id, onProgress)
      void accepted.result.finally(stop)
    }
    return accepted
  }

  async get(id: string): Promise<Run | undefined> {
    const [run] = await readRuns(this.#open().database, [id])
    return run && this.#changes.withProgress(run)
  }

  async callOf(id: string): Promise<{ call: ToolCall; options: DurableRunOptions } | undefined> {
    const stored = await readStored(this.#open().database, id)
    if (!stored) return undefined
    const { tool: name, args, origin, caller, timeout_ms, repair, meta, pool } = stored.run
    return {
      call: { name, args },
      options: { origin, caller, timeoutMs: timeout_ms, repair, meta, pool },
    }
  }

  isRun(call: CallContext): boolean {
    return this.#connection?.carrier.runOf(call) !== undefined
  }

  async list(filter: RunFilter = {}): Promise<Run[]> {
    return (await listRuns(this.#open().database, filter)).map(run => this.#changes.withProgress(run))
  }

  async cancel(id: string): Promise<boolean> {
    const connection = this.#open()
    if (!(await isActive(connection.database, id))) return false
    await cancelRun(id)
    connection.carrier.cancel(id)
    connection.notices.send({ cancel: id })
    connection.notices.send({ ended: id })
    await connection.approvals.withdraw(id)
    const ended = await connection.ends.read(id)
    return ended?.success === false && ended.code === 'cancelled'
  }

  async workers(): Promise<DurableWorker[]> {
    return this.#open().roster.list()
  }

  publish(tools: readonly PublishedTool[]): void {
    this.#published = tools
    void this.#connection?.publish(tools)
  }

  offers(): readonly OfferedTool[] {
    return this.#connection?.roster.offers() ?? []
  }

  requestApproval(call: CallContext, asked: Approval): Promise<RunVerdict> | undefined {
    const connection = this.#connection
    const run = connection?.carrier.runOf(call)
    if (!connection || !run) return undefined
    return waitForVerdict(connection, run, asked)
  }

  async decide(approvalId: string, decision: 'approve' | 'deny', about: Decision = {}): Promise<boolean> {
    const connection = this.#open()
    const runId = await connection.approvals.decide(approvalId, decision, about)
    if (runId === undefined) return false
    await connection.release([runId])
    return true
  }

  onChange(listener: (change: DurableChange) => void): () => void {
    return this.#standing.listen(listener)
  }

  close({ drainMs = DEFAULT_DRAIN_MS }: { drainMs?: number } = {}): Promise<void> {
    this.#closing ??= this.#close(drainMs)
    return this.#closing
  }

  async #close(drainMs: number): Promise<void> {
    clearTimeout(this.#retry)
    await this.#ready
    clearTimeout(this.#retry)
    await this.#connection?.close(drainMs)
    this.#removeInterceptor?.()
    await this.#stopDatabase?.()
    this.#changes.close()
    this.#standing.failed({ message: 'durable calls have been shut down', isPassing: false })
  }

  /** Never rejects. After a passing problem, it retries in the background. */
  async #start(): Promise<void> {
    try {
      const { url, place, stop } = await openDatabase(this.#options)
      this.#standing.place = place
      this.#stopDatabase = stop
      this.#connection = await this.#connect(url)
      const use = this.#options.use ?? (interceptor => this.#options.executor.use(interceptor))
      this.#removeInterceptor = use(this.#connection.carrier.interceptor)
      if (this.#published.length > 0) await this.#connection.publish(this.#published)
      this.#standing.ready()
    } catch (error) {
      this.#fail(problemOf(error, this.#standing.place))
    }
  }

  #connect(url: URL): Promise<Connection> {
    const { workerId, pool = 'default', role = 'worker' } = this.#options
    const id = workerId ?? `${hostname()}-${pool}`
    const options = { ...this.#options, id, pool, role, logger: this.#logger, times: this.#times }
    return Connection.open(url, options, {
      onOpen: () => this.#connection && this.#standing.ready(),
      onLost: reason => !this.#closing && this.#standing.lost(reason),
      onWorkers: () => this.#standing.tell({ type: 'workers' }),
      onApprovals: () => void this.#tellApprovals().catch(() => {}),
      onRun: id => this.#changes.noteChange(id),
      onProgress: (id: string, progress: Progress) => this.#changes.noteProgress(id, progress),
    })
  }

  #fail(problem: DatabaseProblem): void {
    void this.#stopDatabase?.().catch(() => {})
    this.#stopDatabase = undefined
    this.#standing.failed(problem)
    if (!problem.isPassing || this.#closing) return
    this.#retry = setTimeout(() => {
      this.#ready = this.#start()
    }, RETRY_START_MS)
  }

  async #tellApprovals(): Promise<void> {
    if (!this.#connection || !this.#standing.isWatched) return
    this.#standing.tell({ type: 'approvals', approvals: await this.#connection.approvals.list() })
  }

  #why(): string {
    return this.#closing ? 'Toolpost is shutting down' : this.#standing.status.text
  }

  #open(): Connection {
    if (!this.#connection) throw new Error(`Durable calls are unavailable: ${this.#why()}`)
    return this.#connection
  }
}
