import type { Logger } from '../logging/logger.ts'
import { isThenable } from '../runtime/guards.ts'
import { quietly } from '../runtime/quietly.ts'
import { whenSettled } from '../runtime/when-settled.ts'
import { QUESTION_MS } from '../tools/caller.ts'
import type { Progress, Tool } from '../tools/tool.ts'
import { abortQuietly } from './abort-quietly.ts'
import type { Attempt } from './attempt.ts'
import { logMishap } from './call-log.ts'
import { CallOptions } from './call-options.ts'
import type { Arguments } from './check-arguments.ts'
import { type DeadlineQueue, type Deadlines, type Expiring, timeLimit } from './deadlines.ts'
import type { Observers } from './observers.ts'
import type { RunOptions } from './options.ts'
import type { Plan } from './plan.ts'
import { QuestionTime } from './question-time.ts'
import { unwatch, watch } from './watched-signals.ts'

/** Time-box: runs the tool as `call`, which ends when the tool does, at its deadline, or when the caller gives up. */
export function timeBox(plan: Plan, args: Arguments, call: RunningCall): void {
  try {
    if (call.limits.signal?.aborted) return call.cancel()
    const outcome = invoke(plan, args, call)
    if (isThenable(outcome)) call.waitFor(outcome)
    else call.finish({ kind: 'value', value: outcome })
  } catch (error) {
    call.finish({ kind: 'error', error })
  }
}

/** `tool.invoke(args, { signal })`, without a wrapper. docs/decisions says why not `{ input: args }`. */
function invoke({ tool, isLangChain }: Plan, args: Arguments, call: RunningCall): unknown {
  const options = isLangChain ? { signal: call.signal } : new CallOptions(call)
  return tool.invoke(tool.inputEnvelope ? { input: args } : args, options)
}

/** How the time-boxed part of a call ended. */
export type Ending =
  | { kind: 'value'; value: unknown }
  | { kind: 'error'; error: unknown }
  | { kind: 'timeout'; afterMs: number }
  | { kind: 'cancelled' }

/** What all calls of an executor share. */
export interface CallDefaults {
  timeoutMs: number
  logger: Logger
  observers: Observers
}

/** The limits of a call. Created for every call, so rarely used values are looked up on demand. */
export class Limits {
  readonly startedAt: number
  readonly timeoutMs: number
  readonly options: RunOptions
  readonly attempt: Attempt
  readonly tool: Tool
  readonly logger: Logger
  readonly observers: Observers

  constructor(attempt: Attempt, tool: Tool, { timeoutMs, logger, observers }: CallDefaults) {
    const { options } = attempt
    // Time that interceptors waited does not count against the tool.
    this.startedAt = attempt.startedAt + attempt.waitedMs
    this.timeoutMs = timeLimit(options, tool, timeoutMs)
    this.options = options
    this.attempt = attempt
    this.tool = tool
    this.logger = logger
    this.observers = observers
  }

  /** How far progress may extend the deadline; no further than `timeoutMs` if left out. */
  get maxTimeoutMs(): number | undefined {
    return this.tool.maxTimeoutMs
  }

  get signal(): AbortSignal | undefined {
    return this.options.signal
  }

  get caller(): string | undefined {
    return this.options.caller ?? this.options.origin
  }

  get meta(): Readonly<Record<string, unknown>> | undefined {
    return this.attempt.meta ?? this.options.meta
  }

  get onProgress(): ((progress: Progress) => void) | undefined {
    return this.attempt.event ? this.observers.progressOf(this.attempt) : this.options.onProgress
  }

  /** Logs what is reported nowhere else: a late answer, a failed listener. */
  warn(message: string, error?: unknown): void {
    logMishap(this.logger, this.attempt, message, error)
  }
}

const { then } = Promise.prototype
const NO_QUESTIONS: Readonly<QuestionTime> = new QuestionTime()

/**
 * A running tool. Ends exactly once: by its value, its error, its deadline or its caller, whichever comes first.
 * At the deadline the caller gets its answer, whatever the tool does; the tool is notified through its signal.
 */
export class RunningCall implements Expiring {
  deadlineAt: number
  queue: DeadlineQueue | undefined
  before: Expiring | undefined
  after: Expiring | undefined
  readonly limits: Limits
  #ended = false
  #aborted = false
  #questions: QuestionTime | undefined
  #controller: AbortController | undefined
  #listeners: (() => void)[] | undefined
  readonly #deadlines: Deadlines
  readonly #end: (ending: Ending) => void

  constructor(limits: Limits, deadlines: Deadlines, end: (ending: Ending) => void) {
    this.limits = limits
    this.deadlineAt = limits.startedAt + limits.timeoutMs
    this.#deadlines = deadlines
    this.#end = end
  }

  /** From now on the tool, the deadline or the caller's signal ends the call. */
  waitFor(outcome: PromiseLike<unknown>): void {
    const onValue = (value: unknown) =>
      void (
        this.finish({ kind: 'value', value }) || this.limits.warn('Late answer dropped: the call had ended')
      )
    // Most tools reject once their signal is aborted: nothing to report.
    const onError = (error: unknown) => void this.finish({ kind: 'error', error })
    // Not `outcome.then`: a tool can override it with one that settles more than once, or synchronously.
    if (outcome instanceof Promise) then.call(outcome, onValue, onError)
    else whenSettled(outcome, onValue, onError)
    if (this.limits.timeoutMs < Number.POSITIVE_INFINITY) this.#deadlines.add(this, this.limits.timeoutMs)
    if (this.limits.signal) watch(this.limits.signal, this)
  }

  get hasEnded(): boolean {
    return this.#ended
  }

  finish(ending: Ending): boolean {
    if (this.#ended) return false
    this.#ended = true
    if (this.#questions) this.#countWait(this.#questions)
    this.#deadlines.remove(this)
    if (this.limits.signal) unwatch(this.limits.signal, this)
    this.#end(ending)
    return true
  }

  expire(): void {
    const { startedAt, timeoutMs } = this.limits
    const { waitedMs, allowanceMs } = this.#questions ?? NO_QUESTIONS
    const afterMs = Math.max(timeoutMs, Math.round(this.deadlineAt - startedAt - waitedMs - allowanceMs))
    if (this.finish({ kind: 'timeout', afterMs })) this.#abort(`timed out after ${afterMs} ms`)
  }

  cancel(): void {
    if (this.finish({ kind: 'cancelled' })) this.#abort('was cancelled')
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#aborted && !this.#controller.signal.aborted) this.#controller.abort()
    return this.#controller.signal
  }

  onAbort(listener: () => void): void {
    if (this.#aborted) return listener()
    if (this.#ended) return
    this.#listeners ??= []
    this.#listeners.push(listener)
  }

  #abort(reason: string): void {
    this.#aborted = true
    const onError = (error: unknown) => this.limits.warn("The tool's abort listener failed", error)
    if (this.#controller)
      abortQuietly(this.#controller, new DOMException(`The call ${reason}`, 'AbortError'), onError)
    for (const listener of this.#listeners ?? []) quietly(listener, onError)
  }

  progress(progress: Progress): void {
    if (this.#ended) return
    this.#extend()
    const { onProgress } = this.limits
    if (onProgress)
      quietly(
        () => onProgress(progress),
        error => this.limits.warn('onProgress failed', error),
      )
  }

  /** Pauses the deadline while a question is open, for as long as a person may take. */
  async asking<T>(ask: () => Promise<T>): Promise<T> {
    this.#questions ??= new QuestionTime()
    const questions = this.#questions
    if (questions.begin(this.#deadlines.now())) this.#moveDeadline(this.deadlineAt + QUESTION_MS)
    try {
      return await ask()
    } finally {
      if (questions.end()) this.#moveDeadline(this.deadlineAt - QUESTION_MS + this.#countWait(questions))
    }
  }

  /** Time spent waiting for a person or a model is not the tool's. */
  #countWait(questions: QuestionTime): number {
    const waitedMs = questions.count(this.#deadlines.now())
    this.limits.attempt.waitedMs += waitedMs
    return waitedMs
  }

  #extend(): void {
    const { startedAt, timeoutMs, maxTimeoutMs } = this.limits
    if (maxTimeoutMs === undefined || maxTimeoutMs <= timeoutMs) return
    const { since, waitedMs, allowanceMs } = this.#questions ?? NO_QUESTIONS
    const latest = startedAt + maxTimeoutMs + waitedMs
    const deadlineAt = Math.min((since ?? this.#deadlines.now()) + timeoutMs, latest) + allowanceMs
    if (deadlineAt > this.deadlineAt) this.#moveDeadline(deadlineAt)
  }

  /** Works before the deadline is watched, too: a tool can ask before it has returned a promise. */
  #moveDeadline(deadlineAt: number): void {
    const isWatched = this.queue !== undefined
    this.#deadlines.remove(this)
    this.deadlineAt = deadlineAt
    if (isWatched) this.#deadlines.add(this, Math.ceil(deadlineAt - this.#deadlines.now()))
  }
}
