import type { InvokeOptions, Progress } from '../tools/tool.ts'
import type { DeadlineQueue, Deadlines, Expiring } from './deadlines.ts'
import { unwatch, watch } from './watched-signals.ts'

/** How the time-boxed part of a call ended. */
export type Ending =
  | { kind: 'value'; value: unknown }
  | { kind: 'error'; error: unknown }
  | { kind: 'timeout'; afterMs: number }
  | { kind: 'cancelled' }

export interface Limits {
  startedAt: number
  timeoutMs: number
  /** How far progress may extend the deadline; no further than `timeoutMs` if left out. */
  maxTimeoutMs?: number | undefined
  signal?: AbortSignal | undefined
  callId?: string | undefined
  onProgress?: ((progress: Progress) => void) | undefined
  /** Told when the tool gives its value after its call has ended. */
  onLate(): void
}

/**
 * A tool at work. Ends exactly once: by its value, its error, its deadline or its caller, whichever comes first.
 * At the deadline the caller is answered whatever the tool does; the tool is told by its signal.
 */
export class RunningCall implements Expiring {
  deadlineAt: number
  queue: DeadlineQueue | undefined
  before: Expiring | undefined
  after: Expiring | undefined
  readonly limits: Limits
  #ended = false
  #aborted = false
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
    outcome.then(
      value => this.finish({ kind: 'value', value }) || this.limits.onLate(),
      // A rejection after the end is how most tools obey their signal: nothing to report.
      error => void this.finish({ kind: 'error', error }),
    )
    if (this.limits.timeoutMs < Number.POSITIVE_INFINITY) this.#deadlines.add(this, this.limits.timeoutMs)
    if (this.limits.signal) watch(this.limits.signal, this)
  }

  finish(ending: Ending): boolean {
    if (this.#ended) return false
    this.#ended = true
    this.#deadlines.remove(this)
    if (this.limits.signal) unwatch(this.limits.signal, this)
    this.#end(ending)
    return true
  }

  expire(): void {
    const { startedAt, timeoutMs } = this.limits
    const afterMs = Math.max(timeoutMs, Math.round(this.deadlineAt - startedAt))
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
    this.#controller?.abort(new DOMException(`The call ${reason}`, 'AbortError'))
    for (const listener of this.#listeners ?? []) quietly(listener)
  }

  progress(progress: Progress): void {
    if (this.#ended) return
    this.#extend()
    const { onProgress } = this.limits
    if (onProgress) quietly(() => onProgress(progress))
  }

  #extend(): void {
    const { startedAt, timeoutMs, maxTimeoutMs } = this.limits
    if (maxTimeoutMs === undefined || maxTimeoutMs <= timeoutMs || !this.queue) return
    const now = this.#deadlines.now()
    const deadlineAt = Math.min(now + timeoutMs, startedAt + maxTimeoutMs)
    if (deadlineAt <= this.deadlineAt) return
    this.#deadlines.remove(this)
    this.deadlineAt = deadlineAt
    this.#deadlines.add(this, Math.ceil(deadlineAt - now))
  }
}

/** Somebody else's callback: what it throws must not reach the calls beside this one. */
function quietly(callback: () => void): void {
  try {
    callback()
  } catch {
    // The call has its own answer; the callback's owner lost only this notice.
  }
}

/**
 * The options that a tool gets. `signal` is a getter of the prototype: it costs nothing until it is read.
 * LangChain copies its options and would lose it, so its tools get a plain object with a real signal.
 */
export class CallOptions implements InvokeOptions {
  readonly #call: RunningCall

  constructor(call: RunningCall) {
    this.#call = call
  }

  get signal(): AbortSignal {
    return this.#call.signal
  }

  get callId(): string | undefined {
    return this.#call.limits.callId
  }

  get wantsProgress(): boolean {
    const { onProgress, maxTimeoutMs } = this.#call.limits
    return onProgress !== undefined || maxTimeoutMs !== undefined
  }

  onAbort(listener: () => void): void {
    this.#call.onAbort(listener)
  }

  reportProgress(progress: Progress): void {
    this.#call.progress(progress)
  }
}
