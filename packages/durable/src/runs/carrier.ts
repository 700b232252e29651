import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import type { CallContext, Interceptor, Progress, RunOptions, ToolExecutor, ToolResult } from 'toolpost'
import type { DurableRunOptions } from 'toolpost/project'
import { handedOn, journalIntent } from '../engine/engine.ts'
import { cancelled, keptResult, unknownOutcome } from './kept-result.ts'
import type { StoredRun } from './stored-run.ts'

const PROGRESS_EVERY_MS = 250

type Within = <T>(work: () => T) => T

/** A run being executed by this process. */
interface CarriedRun {
  readonly id: string
  readonly run: StoredRun
  readonly stop: AbortController
  /** Re-enters the journal's context, reserved for the run itself. */
  readonly inside: Within
  readonly isTaken: boolean
  /** Why this process may not journal its end. */
  lost?: Error | undefined
}

/** A run whose caller waits in this same process. */
interface LiveRun {
  readonly options: DurableRunOptions
  /** The caller's context, for traces. */
  readonly there: Within
  /** What the tool returned, before it was shaped for the journal. */
  result?: ToolResult | undefined
}

interface CarrierOptions {
  executor: ToolExecutor
  process: string
  onBegin(id: string): void
  onProgress(id: string, progress: Progress): void
}

/** Executes runs in this process, through the executor like every other call. */
export class Carrier {
  readonly #options: CarrierOptions
  /** Leaves any run: calls made by a tool are not part of the run that invoked it. */
  readonly #outside: Within = AsyncLocalStorage.snapshot()
  readonly #running = new Map<string, CarriedRun>()
  readonly #bySignal = new WeakMap<AbortSignal, CarriedRun>()
  readonly #live = new Map<string, LiveRun>()

  constructor(options: CarrierOptions) {
    this.#options = options
  }

  /** The number of runs taken from queues. */
  get taken(): number {
    let count = 0
    for (const { isTaken } of this.#running.values()) if (isTaken) count++
    return count
  }

  runOf(call: CallContext): CarriedRun | undefined {
    // Not `signal`: that is a different one if somebody observes the executor.
    return call.options.signal && this.#bySignal.get(call.options.signal)
  }

  /** Announces a run that is about to start here, whose caller is in this process. */
  expect(id: string, options: DurableRunOptions): LiveRun {
    const live: LiveRun = { options, there: AsyncLocalStorage.snapshot() }
    this.#live.set(id, live)
    return live
  }

  isExpected(id: string): boolean {
    return this.#live.has(id)
  }

  forget(id: string): void {
    this.#live.delete(id)
  }

  /** Runs `work`, such as journalling a run, outside any run. */
  outside<T>(work: () => T): T {
    return this.#outside(work)
  }

  /** Executes a run. Rejects if this process may not journal its end. */
  async carryOut(id: string, run: StoredRun): Promise<ToolResult> {
    const live = this.#live.get(id)
    const carried: CarriedRun = {
      ...{ id, run, stop: new AbortController(), isTaken: !live },
      inside: AsyncLocalStorage.snapshot(),
    }
    this.#running.set(id, carried)
    this.#bySignal.set(carried.stop.signal, carried)
    try {
      this.#options.onBegin(id)
      const within = live?.there ?? this.#outside
      const result = await within(() => this.#run(carried, live))
      if (carried.lost) throw carried.lost
      if (live) live.result = result
      return keptResult(result, this.#options.executor)
    } finally {
      if (this.#running.get(id) === carried) this.#running.delete(id)
    }
  }

  cancel(id: string): void {
    this.#running.get(id)?.stop.abort()
  }

  /** The run continues later, maybe elsewhere: its outcome here is discarded. */
  handOn(id: string): void {
    const carried = this.#running.get(id)
    if (!carried) return
    carried.lost = handedOn(id)
    carried.stop.abort()
  }

  handOnAll(): void {
    for (const id of this.#running.keys()) this.handOn(id)
  }

  /**
   * The innermost interceptor: unless a call is repeatable, its intent is journalled before the tool is invoked. Finding
   * another's intent means that the tool was invoked already, with an unknown outcome.
   */
  readonly interceptor: Interceptor = async (call, next) => {
    const carried = this.runOf(call)
    if (!carried || call.failure || carried.run.repeatable) return next()
    const own = `${this.#options.process}/${randomUUID()}`
    let journalled: string
    try {
      journalled = await carried.inside(() => journalIntent(own))
    } catch (error) {
      carried.lost = error instanceof Error ? error : new Error(String(error))
      return cancelled(call.name)
    }
    if (journalled === own) return next()
    return unknownOutcome(call.name, journalled)
  }

  #run(carried: CarriedRun, live: LiveRun | undefined): Promise<ToolResult> {
    const { run, id, stop } = carried
    const { tool: name, args, call_id } = run
    const options: RunOptions = {
      ...live?.options,
      ...{
        origin: run.origin,
        caller: run.caller,
        timeoutMs: run.timeout_ms,
        repair: run.repair,
        meta: run.meta,
      },
      signal: stop.signal,
      onProgress: this.#progressOf(id, live?.options.onProgress),
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
}
