import { hostname } from 'node:os'
import {
  type InterceptedCall,
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
import { type DatabaseProblem, problemOf } from './database/database-problem.ts'
import { openDatabase } from './database/open-database.ts'
import { cancelRun } from './engine/engine.ts'
import { isActive } from './runs/held-runs.ts'
import { cancelled, unavailable } from './runs/kept-result.ts'
import { RunChanges } from './runs/run-changes.ts'
import { listRuns, readRuns, readStored } from './runs/run-rows.ts'
import { waitForVerdict } from './runs/wait-for-verdict.ts'
import { Session } from './session.ts'
import { Standing } from './standing.ts'
import { TIMES, type Times } from './times.ts'

const RETRY_START_MS = 2_000
const DEFAULT_DRAIN_MS = 10_000

/** Durable calls, from their start to their end. */
export class DurableCalls implements Durable {
  readonly #options: DurableOptions
  readonly #logger: Logger
  readonly #times: Times
  readonly #standing: Standing
  readonly #changes: RunChanges
  #session: Session | undefined
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
      read: async ids => (this.#session ? readRuns(this.#session.database, ids) : []),
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
        // With a key, others may wait for the same run, and the caller may come again.
        if (key === undefined) void this.cancel(id).catch(() => {})
        resolve(cancelled(call.name, id))
      }
      signal.addEventListener('abort', giveUp, { once: true })
      if (signal.aborted) giveUp()
      void result.then(resolve).finally(() => signal.removeEventListener('abort', giveUp))
    })
  }

  async accept(call: ToolCall, options: DurableRunOptions = {}): Promise<AcceptedRun | RefusedRun> {
    const session = this.#session
    if (!session?.isOpen || this.#closing) return { refused: unavailable(call.name, this.#why()) }
    const { onProgress } = options
    const accepted = await acceptRun(session, call, options)
    if (onProgress && 'id' in accepted && !session.carrier.isExpected(accepted.id)) {
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

  isRun(call: InterceptedCall): boolean {
    return this.#session?.carrier.runOf(call) !== undefined
  }

  async list(filter: RunFilter = {}): Promise<Run[]> {
    return (await listRuns(this.#open().database, filter)).map(run => this.#changes.withProgress(run))
  }

  async cancel(id: string): Promise<boolean> {
    const session = this.#open()
    if (!(await isActive(session.database, id))) return false
    await cancelRun(id)
    session.carrier.cancel(id)
    session.notices.send({ cancel: id })
    session.notices.send({ ended: id })
    await session.approvals.withdraw(id)
    const ended = await session.ends.read(id)
    return ended?.success === false && ended.code === 'cancelled'
  }

  async workers(): Promise<DurableWorker[]> {
    return this.#open().roster.list()
  }

  publish(tools: readonly PublishedTool[]): void {
    this.#published = tools
    void this.#session?.publish(tools)
  }

  offers(): readonly OfferedTool[] {
    return this.#session?.roster.offers() ?? []
  }

  requestApproval(call: InterceptedCall, asked: Approval): Promise<RunVerdict> | undefined {
    const session = this.#session
    const run = session?.carrier.runOf(call)
    if (!session || !run) return undefined
    return waitForVerdict(session, run, asked)
  }

  async decide(approvalId: string, decision: 'approve' | 'deny', about: Decision = {}): Promise<boolean> {
    const session = this.#open()
    const runId = await session.approvals.decide(approvalId, decision, about)
    if (runId === undefined) return false
    await session.release([runId])
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
    await this.#session?.close(drainMs)
    this.#removeInterceptor?.()
    await this.#stopDatabase?.()
    this.#changes.close()
    this.#standing.failed({ message: 'durable calls are shut down', isPassing: false })
  }

  /** Never rejects. A problem that may pass is tried again, without anybody having to wait for it. */
  async #start(): Promise<void> {
    try {
      const { url, place, stop } = await openDatabase(this.#options)
      this.#standing.place = place
      this.#stopDatabase = stop
      this.#session = await this.#openSession(url)
      const use = this.#options.use ?? (interceptor => this.#options.executor.use(interceptor))
      this.#removeInterceptor = use(this.#session.carrier.interceptor)
      if (this.#published.length > 0) await this.#session.publish(this.#published)
      this.#standing.ready()
    } catch (error) {
      this.#fail(problemOf(error, this.#standing.place))
    }
  }

  #openSession(url: URL): Promise<Session> {
    const { workerId, pool = 'default', role = 'worker' } = this.#options
    const id = workerId ?? `${hostname()}-${pool}`
    const options = { ...this.#options, id, pool, role, logger: this.#logger, times: this.#times }
    return Session.open(url, options, {
      onOpen: () => this.#session && this.#standing.ready(),
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
    if (!this.#session || !this.#standing.isWatched) return
    this.#standing.tell({ type: 'approvals', approvals: await this.#session.approvals.list() })
  }

  #why(): string {
    return this.#closing ? 'Toolpost is shutting down' : this.#standing.status.text
  }

  #open(): Session {
    if (!this.#session) throw new Error(`Durable calls are unavailable: ${this.#why()}`)
    return this.#session
  }
}
