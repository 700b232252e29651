import { QUESTION_MS } from '../tools/caller.ts'
import type { Tool } from '../tools/tool.ts'
import { classifyError } from './classify-error.ts'
import type { CallContext } from './context.ts'
import { cancelled, type Failure, timedOut } from './failure.ts'

/** What time-boxed work ends with. */
export type Outcome = { value: unknown } | Failure

type Settle<T> = (outcome: Outcome, context: CallContext) => T

/**
 * The time limit of a call. At the deadline the caller gets its answer, whatever the tool does; the signal is aborted, and
 * a late answer is dropped and logged.
 */
export class TimeBox {
  deadlineAt: number
  at = -1
  readonly #context: CallContext
  readonly #startedAt: number
  /** How long the work may take at once, and now in all: progress extends it. */
  readonly #stepMs: number
  #limitMs: number
  #resolve: ((outcome: Outcome) => void) | undefined
  #holds = 0
  #heldAt = 0
  #heldMs = 0

  constructor(context: CallContext, limitMs: number, startedAt: number) {
    this.#context = context
    this.#startedAt = startedAt
    this.#stepMs = limitMs
    this.#limitMs = limitMs
    this.deadlineAt = startedAt + limitMs
  }

  /** Runs `work` until it settles, its time is up or the call is cancelled; resolves to what `settle` makes of that. */
  run<T>(work: (context: CallContext) => unknown, settle: Settle<T>): Promise<T> {
    const context = this.#context
    if (context.isCancelled) return Promise.resolve(settle(cancelled(context.name), context))
    context.box = this
    return new Promise(resolve => {
      this.#resolve = outcome => resolve(settle(outcome, context))
      context.services.deadlines.add(this)
      void this.#work(work)
    })
  }

  async #work(work: (context: CallContext) => unknown): Promise<void> {
    const context = this.#context
    try {
      const value = await work(context)
      if (!this.end({ value })) context.warn('Late answer dropped: the call had ended')
    } catch (error) {
      // Most tools reject once their signal is aborted: nothing to report.
      if (this.isRunning) this.end(classifyError(error, context.tool as Tool))
    }
  }

  get isRunning(): boolean {
    return this.#resolve !== undefined
  }

  /** Returns `false` if it had already ended. */
  end(outcome: Outcome): boolean {
    const resolve = this.#resolve
    if (!resolve) return false
    if (this.#holds > 0) this.#countHold()
    this.#resolve = undefined
    this.#context.services.deadlines.remove(this)
    resolve(outcome)
    return true
  }

  expire(): void {
    const afterMs = Math.round(this.#limitMs)
    if (this.end(timedOut(this.#context.name, afterMs))) this.#context.abort(`timed out after ${afterMs} ms`)
  }

  /** Starts the time limit over, up to `maxMs` in all. While a question is open, time stands still. */
  extend(maxMs: number): void {
    const now = this.#holds > 0 ? this.#heldAt : this.#context.services.clock.now()
    const usedMs = now - this.#startedAt - this.#heldMs
    this.#limitMs = Math.max(this.#limitMs, Math.min(usedMs + this.#stepMs, maxMs))
    this.#moveDeadline()
  }

  /** Pauses the time limit while `work` runs. */
  async hold<T>(work: () => Promise<T>): Promise<T> {
    if (this.#holds++ === 0) {
      this.#heldAt = this.#context.services.clock.now()
      this.#moveDeadline()
    }
    try {
      return await work()
    } finally {
      if (--this.#holds === 0 && this.isRunning) {
        this.#countHold()
        this.#moveDeadline()
      }
    }
  }

  /** Time spent waiting for a person or a model is not the tool's. */
  #countHold(): void {
    const heldMs = Math.min(this.#context.services.clock.now() - this.#heldAt, QUESTION_MS)
    this.#heldMs += heldMs
    this.#context.waitedMs += heldMs
  }

  #moveDeadline(): void {
    const { deadlines } = this.#context.services
    deadlines.remove(this)
    this.deadlineAt = this.#startedAt + this.#limitMs + this.#heldMs + (this.#holds > 0 ? QUESTION_MS : 0)
    deadlines.add(this)
  }
}

/** A limit in milliseconds; anything else counts as not given. */
export function limitOf(ms: number | undefined): number | undefined {
  return typeof ms === 'number' && ms >= 0 ? ms : undefined
}

/** The caller's limit, else the tool's, else the executor's; never more than the tool's `maxTimeoutMs`. */
export function timeLimit(own: number | undefined, tool: Tool | undefined, usual: number): number {
  const limitMs = limitOf(own) ?? limitOf(tool?.timeoutMs) ?? usual
  return Math.min(limitMs, limitOf(tool?.maxTimeoutMs) ?? limitMs)
}
