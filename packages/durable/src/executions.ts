import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { CallContext, Interceptor, Progress, RunOptions, ToolExecutor, ToolResult } from 'toolpost'
import type { DurableRunOptions } from 'toolpost/project'
import type { Attempt } from './engine.ts'
import { cancelled, keptResult, type RunRow, type Store, storedOf, unavailable } from './store.ts'

const PROGRESS_EVERY_MS = 250
const RETRY_MS = 200
/** Gives up on a call that kills every worker that runs it. */
const MAX_DEATHS = 20

type Within = <T>(work: () => T) => T

/** An attempt that this process executes. */
export interface Execution {
  readonly row: RunRow
  readonly stop: AbortController
  /** Whether the tool was started. */
  isInvoked: boolean
  /** It continues elsewhere, or has ended: what comes of it here is dropped. */
  isLost: boolean
}

interface ExecutionsOptions {
  store: Store
  executor: ToolExecutor
  process: string
  onProgress(id: string, progress: Progress): void
  onEnd(id: string, result: ToolResult): void
  /** This process does not have the tool (yet). */
  onMissing(row: RunRow): Promise<void>
}

/** Executes runs in this process, through the executor like every other call. */
export class Executions {
  readonly #options: ExecutionsOptions
  readonly #running = new Map<string, Execution>()
  readonly #bySignal = new WeakMap<AbortSignal, Execution>()
  /** Callers in this process, by run: what they passed, and their context, for traces. */
  readonly #callers = new Map<string, { options: DurableRunOptions; row: RunRow; within: Within }>()
  #isClosed = false

  constructor(options: ExecutionsOptions) {
    this.#options = options
  }

  get ids(): string[] {
    return [...this.#running.keys()]
  }

  /** Including those about to start. */
  get count(): number {
    return this.#running.size + this.#callers.size
  }

  of(call: CallContext): Execution | undefined {
    // Not `signal`: that is a different one if somebody observes the executor.
    return call.options.signal && this.#bySignal.get(call.options.signal)
  }

  /** Announces a run that is about to start here, whose caller is in this process. */
  expect(row: RunRow, options: DurableRunOptions): void {
    this.#callers.set(row.id, { options, row, within: AsyncLocalStorage.snapshot() })
  }

  /** Executes an attempt, unless the run has moved on. Never rejects. */
  async execute({ id, attempt }: Attempt): Promise<void> {
    const { store, executor, process, onMissing, onEnd } = this.#options
    const live = this.#callers.get(id)
    this.#callers.delete(id)
    const isKnown = live?.row.attempt === attempt
    const row = isKnown ? live.row : await this.#insist(() => store.begin(id, attempt, process))
    if (!row) return
    if (!executor.tools.findTool(row.tool)) return void (await this.#insist(() => onMissing(row)))
    const execution = { row, stop: new AbortController(), isInvoked: false, isLost: false }
    this.#running.set(id, execution)
    this.#bySignal.set(execution.stop.signal, execution)
    const within = live?.within ?? (work => work())
    const result = await within(() => this.#run(execution, live?.options))
    const kept = keptResult(result, executor)
    const isKept =
      !execution.isLost &&
      (await this.#insist(() => store.finish(row, { result: kept, isFinal: execution.isInvoked })))
    this.#running.delete(id)
    if (isKept) onEnd(id, { ...result, run_id: id })
  }

  /** The run has ended, or goes on elsewhere. */
  lose(id: string): void {
    const execution = this.#running.get(id)
    if (!execution || execution.isLost) return
    execution.isLost = true
    execution.stop.abort()
  }

  close(): void {
    this.#isClosed = true
    for (const id of this.ids) this.lose(id)
  }

  /**
   * The innermost interceptor: unless a call is repeatable, its intent is journalled before the tool is invoked. An attempt
   * that cannot journal it was overtaken, and must not invoke the tool.
   */
  readonly interceptor: Interceptor = async (call, next) => {
    const execution = this.of(call)
    if (!execution || call.failure) return next()
    const { id, attempt } = execution.row
    if (!execution.row.repeatable) {
      const nonce = `${this.#options.process}/${randomUUID()}`
      const isOwn = await this.#insist(() => this.#options.store.intend(id, attempt, nonce))
      if (!isOwn || execution.isLost) {
        execution.isLost = true
        return cancelled(call.name)
      }
    }
    const result = await next()
    execution.isInvoked = call.isInvoked
    return result
  }

  #run({ row, stop }: Execution, given: DurableRunOptions | undefined): Promise<ToolResult> {
    const { tool: name, origin, caller, id, deaths } = row
    const { args, call_id, timeout_ms: timeoutMs, repair, meta } = storedOf(row)
    if (deaths >= MAX_DEATHS)
      return Promise.resolve(unavailable(name, `its worker died ${deaths} times while running the call`))
    const options: RunOptions = {
      ...given,
      ...{ origin: origin ?? undefined, caller: caller ?? undefined, timeoutMs, repair, meta },
      signal: stop.signal,
      onProgress: this.#progressOf(id, given?.onProgress),
    }
    return this.#options.executor.run({ id: call_id, name, args }, options)
  }

  /** A caller in this process gets every update, the others a throttled few. */
  #progressOf(id: string, tell: RunOptions['onProgress']): (progress: Progress) => void {
    let toldAt = Number.NEGATIVE_INFINITY
    return progress => {
      tell?.(progress)
      if (performance.now() - toldAt < PROGRESS_EVERY_MS) return
      toldAt = performance.now()
      this.#options.onProgress(id, progress)
    }
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
