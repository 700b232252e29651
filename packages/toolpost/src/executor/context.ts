import type { ToolCall } from '../call/tool-call.ts'
import type { Logger } from '../logging/logger.ts'
import type { Clock } from '../runtime/clock.ts'
import { describeThrown, quietly } from '../runtime/quietly.ts'
import { type Ask, type Caller, QUESTION_MS } from '../tools/caller.ts'
import type { InvokeOptions, Progress, ServerRequest, Tool } from '../tools/tool.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import { abortSafely, unwatch, watch } from './abort.ts'
import type { Deadlines } from './deadlines.ts'
import type { Failure } from './failure.ts'
import { frozenCopy, thawedCopy } from './frozen.ts'
import { logWarning } from './log.ts'
import type { Observers } from './observers.ts'
import type { RunOptions, TypedCall } from './options.ts'

/** What the calls of an executor share. */
export interface Services {
  readonly tools: ToolManager
  readonly clock: Clock
  readonly deadlines: Deadlines
  readonly observers: Observers
  readonly logger: Logger
}

/** How the time-boxed part of a call ended. */
export type Ending =
  | { kind: 'value'; value: unknown }
  | { kind: 'error'; error: unknown }
  | { kind: 'timeout'; afterMs: number }
  | { kind: 'cancelled' }

/** What a dry run finds out: the policy's verdict, and how a person would be asked. */
export interface DryRun {
  verdict?: 'allow' | 'ask' | 'deny'
  asks?: { because?: string | undefined; timeoutMs?: number | undefined }
}

const NO_OPTIONS: RunOptions = {}
/** Replaces arguments that throw when they are read; no schema accepts it. */
const UNREADABLE = Symbol('unreadable')

/**
 * One call on its way through the executor. Interceptors get it, and the tool gets it as the options of `invoke`. What the
 * caller passed is read once, when the call begins.
 */
export class CallContext implements InvokeOptions {
  readonly id: string | undefined
  readonly name: string
  /** The arguments as the caller gave them. */
  readonly given: unknown
  readonly options: RunOptions
  readonly startedAt: number
  /** How long before `run` the call began: reading its request counts against its deadline. */
  readonly beforeMs: number
  /** `undefined` if none was found. */
  tool: Tool | undefined = undefined
  /** Why the call cannot run: `next()` resolves to it. */
  failure: Failure | undefined = undefined
  repairs: string[] | undefined = undefined
  /** Set for observed calls. */
  serial: string | undefined = undefined
  foundMs: number | undefined = undefined
  fittedMs: number | undefined = undefined
  /** How long the call waited: for a person, for a free slot. */
  waitedMs = 0
  /** Set if the call is only tried out: nothing may be changed, counted or asked. */
  dryRun: DryRun | undefined = undefined
  /** When the tool has to be done; `Infinity` before it is invoked. */
  deadlineAt = Number.POSITIVE_INFINITY
  isCancelled = false
  /** Whether the tool was started: from then on, cancelling the call cannot undo it. */
  isInvoked = false
  readonly #services: Services
  #args: unknown
  #onRequest: ((request: ServerRequest) => void) | undefined
  #frozen: unknown
  #notes: Record<string, unknown> | undefined
  #meta: Record<string, unknown> | undefined
  #controller: AbortController | undefined
  #abortListeners: (() => void)[] | undefined
  #isAborted = false
  #invokedAt = 0
  #timeoutMs = 0
  #end: ((ending: Ending) => void) | undefined
  #onCancel: (() => void) | undefined
  #holds = 0
  #heldAt = 0
  #heldMs = 0

  constructor(
    call: ToolCall | TypedCall<object, unknown>,
    options: RunOptions | undefined,
    services: Services,
  ) {
    let id: unknown
    let name: unknown
    let args: unknown
    let tool: Tool | undefined
    try {
      id = call.id
      tool = (call as TypedCall<object, unknown>).tool
      name = (call as ToolCall).name ?? tool?.name ?? '(no name)'
      args = call.args
    } catch {
      args = UNREADABLE
    }
    this.id =
      typeof id === 'string' || id === undefined || id === null ? (id ?? undefined) : describeThrown(id)
    this.name = typeof name === 'string' ? name : describeThrown(name)
    this.given = args
    this.tool = tool
    this.options = options ?? NO_OPTIONS
    const now = services.clock.now()
    this.startedAt = this.options.startedAt ?? now
    this.beforeMs = now - this.startedAt
    this.#services = services
    this.#args = args
  }

  /** Cancels the call when its caller's signal aborts. */
  followSignal(signal: AbortSignal): void {
    watch(signal, this)
  }

  /** The arguments, fitted and validated, frozen; as given if the call cannot run. */
  get args(): unknown {
    this.#frozen ??= frozenCopy(this.#args)
    return this.#frozen
  }

  set args(args: unknown) {
    this.#args = args
    this.#frozen = undefined
  }

  /** The arguments for the tool: exactly what interceptors saw, if they looked. */
  toolArguments(): Record<string, unknown> {
    return (this.#frozen === undefined ? this.#args : thawedCopy(this.#frozen)) as Record<string, unknown>
  }

  /** The MCP server that the tool comes from. */
  get server(): string | undefined {
    return this.tool && this.#services.tools.originOf(this.tool)?.server
  }

  /** The server's own name for the tool, if that is another one. */
  get originalName(): string | undefined {
    return this.tool && this.#services.tools.originOf(this.tool)?.name
  }

  get callId(): string | undefined {
    return this.id
  }

  get origin(): string | undefined {
    return this.options.origin
  }

  get caller(): string | undefined {
    return this.options.caller
  }

  get conversation(): string | undefined {
    return this.options.conversation
  }

  /** The caller's own limit, if it set one. */
  get timeoutMs(): number | undefined {
    return this.options.timeoutMs
  }

  /** What interceptors record about the call, for observers: the policy's rule, the approval, the trace. */
  get notes(): Record<string, unknown> {
    this.#notes ??= {}
    return this.#notes
  }

  get hasNotes(): boolean {
    return this.#notes !== undefined
  }

  /** Metadata passed on to the tool (`_meta` of an MCP call): `traceparent` … May be added to. */
  get meta(): Record<string, unknown> {
    this.#meta ??= { ...this.options.meta }
    return this.#meta
  }

  /** Called with the request to the tool's server, if it has one. */
  get onRequest(): ((request: ServerRequest) => void) | undefined {
    const listener = this.#onRequest
    if (!listener) return undefined
    const onError = (error: unknown) => this.warn('onRequest failed', error)
    return request => quietly(() => listener(request), onError)
  }

  set onRequest(listener: ((request: ServerRequest) => void) | undefined) {
    this.#onRequest = listener
  }

  /** Since the call began, in milliseconds with three decimals. */
  get elapsedMs(): number {
    return Math.round((this.#services.clock.now() - this.startedAt) * 1_000) / 1_000
  }

  /** Aborts at the deadline, and when the caller gives up or somebody cancels the call. Created when first read. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#isAborted && !this.#controller.signal.aborted) this.#controller.abort()
    return this.#controller.signal
  }

  /** Like a listener on `signal`, without the cost of a signal. */
  onAbort(listener: () => void): void {
    if (this.#isAborted) return listener()
    this.#abortListeners ??= []
    this.#abortListeners.push(listener)
  }

  /** From now on the call ends by its tool, its deadline or its caller, whichever comes first. */
  begin(timeoutMs: number, end: (ending: Ending) => void): void {
    const { clock, deadlines } = this.#services
    this.#timeoutMs = timeoutMs
    this.#invokedAt = clock.now()
    this.#heldMs = 0
    this.#end = end
    this.deadlineAt = this.#invokedAt + timeoutMs - this.beforeMs
    if (timeoutMs < Number.POSITIVE_INFINITY) deadlines.add(this)
  }

  /** Returns `false` if the call had already ended. */
  end(ending: Ending): boolean {
    const end = this.#end
    if (!end) return false
    this.#end = undefined
    this.#services.deadlines.remove(this)
    if (this.#holds > 0) this.#countHold()
    end(ending)
    return true
  }

  /** How long after its deadline the call is now, if its tool kept the event loop from noticing. */
  get overdueMs(): number {
    return this.#services.clock.now() - this.deadlineAt
  }

  expire(): void {
    const afterMs = Math.max(
      this.#timeoutMs,
      Math.round(
        this.deadlineAt +
          this.beforeMs -
          this.#invokedAt -
          this.#heldMs -
          (this.#holds > 0 ? QUESTION_MS : 0),
      ),
    )
    if (this.end({ kind: 'timeout', afterMs })) this.#abort(`timed out after ${afterMs} ms`)
  }

  /** Cancels the call at any stage, as its caller could. */
  cancel(): void {
    if (this.isCancelled) return
    this.isCancelled = true
    this.end({ kind: 'cancelled' })
    this.#abort('was cancelled')
    if (!this.isInvoked) this.#onCancel?.()
  }

  /** Resolves to the answer; to `undefined` as soon as the call is cancelled before its tool was invoked. */
  unlessCancelled<T>(answer: Promise<T>): Promise<T | undefined> {
    if (!this.options.signal && this.serial === undefined) return answer
    return new Promise((resolve, reject) => {
      this.#onCancel = () => resolve(undefined)
      if (this.isCancelled && !this.isInvoked) resolve(undefined)
      answer.then(resolve, reject)
    })
  }

  /** Forgets the caller's signal. */
  close(): void {
    if (this.options.signal) unwatch(this.options.signal, this)
    this.#abortListeners = undefined
  }

  #abort(reason: string): void {
    this.#isAborted = true
    const onError = (error: unknown) => this.warn("The tool's abort listener failed", error)
    if (this.#controller)
      abortSafely(this.#controller, new DOMException(`The call ${reason}`, 'AbortError'), onError)
    for (const listener of this.#abortListeners ?? []) quietly(listener, onError)
  }

  /** Whether the caller asked for progress, or the deadline depends on it. */
  get wantsProgress(): boolean {
    return (
      this.options.onProgress !== undefined ||
      this.tool?.maxTimeoutMs !== undefined ||
      (this.serial !== undefined && this.#services.observers.wantProgress)
    )
  }

  /** Reports progress to the caller; extends the deadline if the tool has a `maxTimeoutMs`. */
  reportProgress(progress: Progress): void {
    if (!this.#end) return
    const { maxTimeoutMs } = this.tool ?? {}
    if (maxTimeoutMs !== undefined) {
      // While a question is open, the tool's time stands still.
      const isHeld = this.#holds > 0
      const now = isHeld ? this.#heldAt : this.#services.clock.now()
      const latest = this.#invokedAt + this.#heldMs + maxTimeoutMs
      const extended = Math.min(now + this.#timeoutMs, latest) + (isHeld ? QUESTION_MS : 0)
      if (extended > this.deadlineAt) this.#moveDeadline(extended)
    }
    if (this.serial !== undefined) this.#services.observers.progress(this.serial, progress)
    quietly(
      () => this.options.onProgress?.(progress),
      error => this.warn('onProgress failed', error),
    )
  }

  #moveDeadline(deadlineAt: number): void {
    const { deadlines } = this.#services
    deadlines.remove(this)
    this.deadlineAt = deadlineAt
    if (this.#end && deadlineAt < Number.POSITIVE_INFINITY) deadlines.add(this)
  }

  /** Pauses the deadline of the running tool while `work` runs, for as long as a person may take. */
  async hold<T>(work: () => Promise<T>): Promise<T> {
    if (!this.#end) return work()
    if (this.#holds++ === 0) {
      this.#heldAt = this.#services.clock.now()
      this.#moveDeadline(this.deadlineAt + QUESTION_MS)
    }
    try {
      return await work()
    } finally {
      if (--this.#holds === 0 && this.#end !== undefined)
        this.#moveDeadline(this.deadlineAt + this.#countHold() - QUESTION_MS)
    }
  }

  /** Time spent waiting for a person or a model is not the tool's. */
  #countHold(): number {
    const heldMs = Math.min(this.#services.clock.now() - this.#heldAt, QUESTION_MS)
    this.#heldMs += heldMs
    this.waitedMs += heldMs
    return heldMs
  }

  /** The caller's identity: questions of the tool's server reach nobody else. */
  get peer(): unknown {
    const { peer, ask, caller, origin } = this.options
    return peer ?? ask ?? caller ?? origin
  }

  /** Asks the person behind the call, if there is one. */
  get ask(): Ask | undefined {
    const { ask } = this.options
    if (!ask) return undefined
    return async question => {
      if (this.isInvoked && !this.#end) return { action: 'cancel' }
      return this.hold(() => ask({ ...question, signal: this.#until(question.signal) }))
    }
  }

  get sample(): Caller['sample'] {
    const { sample } = this.options
    return (
      sample &&
      ((params, options) =>
        this.hold(() => sample(params, { ...options, signal: this.#until(options.signal) })))
    )
  }

  get roots(): Caller['roots'] {
    return this.options.roots
  }

  get onTask(): Caller['onTask'] {
    return this.#guarded('onTask')
  }

  get onLog(): Caller['onLog'] {
    return this.#guarded('onLog')
  }

  get onAddresses(): Caller['onAddresses'] {
    return this.options.onAddresses
  }

  /** A callback of the caller, with its errors logged instead of thrown into the tool. */
  #guarded<Name extends 'onTask' | 'onLog'>(name: Name): Caller[Name] {
    const callback = this.options[name] as ((...args: unknown[]) => void) | undefined
    if (!callback) return undefined
    const onError = (error: unknown) => this.warn(`${name} failed`, error)
    return ((...args: unknown[]) => quietly(() => callback(...args), onError)) as Caller[Name]
  }

  #until(signal: AbortSignal | undefined): AbortSignal {
    return signal ? AbortSignal.any([this.signal, signal]) : this.signal
  }

  get logger(): Logger {
    return this.#services.logger
  }

  /** Logs what is reported nowhere else: a late answer, a failed listener. */
  warn(message: string, error?: unknown): void {
    logWarning(this.#services.logger, this, message, error)
  }
}
