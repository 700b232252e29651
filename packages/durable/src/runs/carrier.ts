import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import type { InterceptedCall, Interceptor, Progress, RunOptions, ToolExecutor, ToolResult } from 'toolpost'
import type { DurableRunOptions } from 'toolpost/project'
import { handedOn, journalIntent } from '../engine/engine.ts'
import { cancelled, keptResult, unknownOutcome } from './kept-result.ts'
import type { StoredRun } from './stored-run.ts'

const PROGRESS_EVERY_MS = 250

type Within = <T>(work: () => T) => T

/** A run that this process carries out. */
interface CarriedRun {
  readonly id: string
  readonly run: StoredRun
  readonly stop: AbortController
  /** Back in the journal's context, which only the run itself may be in. */
  readonly inside: Within
  readonly isTaken: boolean
  /** Why its end is not this process's to journal. */
  lost?: Error | undefined
}

/** A run that its caller waits for in this very process. */
interface LiveRun {
  readonly options: DurableRunOptions
  /** The caller's context, for traces. */
  readonly there: Within
  /** What the tool returned, before it was made to be kept. */
  result?: ToolResult | undefined
}

interface CarrierOptions {
  executor: ToolExecutor
  process: string
  onBegin(id: string): void
  onProgress(id: string, progress: Progress): void
}

/** Carries runs out in this process, through the executor like every other call. */
export class Carrier {
  readonly #options: CarrierOptions
  /** Outside of any run: what a tool calls is not a part of the run that called it. */
  readonly #outside: Within = AsyncLocalStorage.snapshot()
  readonly #running = new Map<string, CarriedRun>()
  readonly #bySignal = new WeakMap<AbortSignal, CarriedRun>()
  readonly #live = new Map<string, LiveRun>()

  constructor(options: CarrierOptions) {
    this.#options = options
  }

  /** Runs that were taken from queues. */
  get taken(): number {
    let count = 0
    for (const { isTaken } of this.#running.values()) if (isTaken) count++
    return count
  }

  runOf(call: InterceptedCall): CarriedRun | undefined {
    // The very one that the run was begun with: `signal` is another one if somebody watches the executor.
    return call.callerSignal && this.#bySignal.get(call.callerSignal)
  }

  /** A run that is about to begin here, with a caller who can be reached. */
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

  /** Runs `work`, such as journalling a run, as a part of no other run. */
  outside<T>(work: () => T): T {
    return this.#outside(work)
  }

  /** Carries a run out. Rejects if its end is not this process's to journal. */
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

  /** The run goes on later, maybe elsewhere: what becomes of it here does not count. */
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
   * The innermost interceptor: whatever must not be repeated is announced in the journal before the tool is invoked. A
   * foreign announcement means that somebody has invoked it already, and nobody knows what came of it.
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

  /** The caller here hears all of it, the others as much as is good for them. */
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
