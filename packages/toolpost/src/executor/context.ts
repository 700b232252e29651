import type { ToolCall } from '../call/tool-call.ts'
import type { ToolResult } from '../call/tool-result.ts'
import type { Logger } from '../logging/logger.ts'
import { safeText } from '../logging/safe-value.ts'
import { type Ask, type Caller, QUESTION_MS } from '../tools/caller.ts'
import type { InvokeOptions, Progress, ServerRequest, Tool } from '../tools/tool.ts'
import type { McpOrigin, ToolManager } from '../tools/tool-manager.ts'
import type { Clock } from '../util/clock.ts'
import { describeThrown, quietly } from '../util/quietly.ts'
import { classifyError } from './classify-error.ts'
import { cancelled, type Failure, timedOut, toolError } from './failure.ts'
import type { CallEvent, CallStage, Observers } from './observers.ts'
import type { RunOptions, TypedCall } from './options.ts'
import type { Plan } from './plan.ts'
import { abortSafely, type Deadlines, timeLimit, watch } from './time-box.ts'

/** What the calls of an executor share. */
export interface Services {
  readonly tools: ToolManager
  readonly clock: Clock
  /** For tools without their own. */
  readonly timeoutMs: number
  readonly deadlines: Deadlines
  readonly observers: Observers
  readonly logger: Logger
}

/** What a dry run finds out: the policy's verdict, and how a person would be asked. */
export interface DryRun {
  verdict?: 'allow' | 'ask' | 'deny'
  asks?: {
    because?: string | undefined
    timeoutMs?: number | undefined
    server?: string | undefined
    definition?: string | undefined
    scopes?: readonly ('tool' | 'server')[] | undefined
  }
}

/** What would happen to a call. */
export type DryRunResult = DryRun & Pick<CallContext, 'tool' | 'failure'> & { result: ToolResult }

/** Makes a result of work that has ended: with a failure, or with a value. */
type Settle<T> = (context: CallContext, failure: Failure | undefined, value: unknown) => T

const NO_OPTIONS: RunOptions = {}

/**
 * One call on its way through the executor. Interceptors get it, and the tool gets it as the options of `invoke`. What the
 * caller passed is read once, when the call begins; if it cannot be read, the call has failed.
 */
export class CallContext implements InvokeOptions {
  readonly id: string | undefined = undefined
  readonly callId: string | undefined = undefined
  readonly name: string = '(unreadable)'
  /** The arguments as the caller gave them. */
  readonly given: unknown = undefined
  readonly options: RunOptions = NO_OPTIONS
  readonly origin: string | undefined = undefined
  readonly caller: string | undefined = undefined
  readonly conversation: string | undefined = undefined
  /** The caller's own limit, if it set one. */
  readonly timeoutMs: number | undefined = undefined
  readonly roots: Caller['roots'] = undefined
  readonly onAddresses: Caller['onAddresses'] = undefined
  readonly services: Services
  readonly startedAt: number
  /** `undefined` if none was found. */
  tool: Tool | undefined = undefined
  /** Of MCP tools: where the tool came from, its server, and that server's own name for it. */
  mcp: McpOrigin | undefined = undefined
  server: string | undefined = undefined
  originalName: string | undefined = undefined
  /** What the executor knows about the tool. */
  plan: Plan | undefined = undefined
  /** Why the call cannot run: `next()` resolves to it. */
  failure: Failure | undefined = undefined
  /** The executor's own answer, before the interceptors looked at it. */
  result: ToolResult | undefined = undefined
  repairs: string[] | undefined = undefined
  /** `notes`, if there are any. */
  noted: Record<string, unknown> | undefined = undefined
  /** Of observed calls: what observers were told when it began, and the stages that it left. */
  event: CallEvent | undefined = undefined
  stages: CallStage[] | undefined = undefined
  /** Set if the call is only tried out: nothing may be changed, counted or asked. */
  dryRun: DryRun | undefined = undefined
  /** Called with the request to the tool's server, if it has one. */
  onRequest: ((request: ServerRequest) => void) | undefined = undefined
  isIntercepted = false
  /** How long the call waited: for a person, for a free slot. */
  waitedMs = 0
  isCancelled = false
  /** Whether the tool was started: from then on, cancelling the call cannot undo it. */
  isInvoked = false
  /** When the running work has to end. */
  deadlineAt = Number.POSITIVE_INFINITY
  place = -1
  /** When it reached the interceptors, until it leaves them. */
  #enteredAt: number | undefined = undefined
  /** When the time limit of the tool begins: when the call began, or left the interceptors. */
  #begunAt: number
  #args: unknown = undefined
  #frozen: unknown = undefined
  #meta: Record<string, unknown> | undefined = undefined
  #limitMs = 0
  /** Ends the running work. */
  #settle: ((failure: Failure | undefined, value: unknown) => void) | undefined = undefined
  #holds = 0
  #heldAt = 0
  #isAborted = false
  #controller: AbortController | undefined = undefined
  #abortListeners: (() => void)[] | undefined = undefined

  constructor(
    call: ToolCall | TypedCall<object, unknown>,
    options: RunOptions = NO_OPTIONS,
    services: Services,
  ) {
    this.services = services
    this.startedAt = options.startedAt ?? services.clock.now()
    this.#begunAt = this.startedAt
    try {
      const { id, args, name, tool } = (call ?? {}) as ToolCall & { tool?: Tool }
      const given = name ?? tool?.name ?? '(no name)'
      this.id = typeof id === 'string' || id == null ? (id ?? undefined) : describeThrown(id)
      this.callId = this.id
      this.name = typeof given === 'string' ? given : describeThrown(given)
      this.given = args
      this.#args = args
      this.options = tool ? { ...options, also: [tool] } : options
      this.origin = options.origin
      this.caller = options.caller
      this.conversation = options.conversation
      this.timeoutMs = options.timeoutMs
      this.roots = options.roots
      this.onAddresses = options.onAddresses
      if (options.signal) watch(options.signal, this)
    } catch (error) {
      this.failure = toolError(`The call cannot be read: ${describeThrown(error)}`)
    }
  }

  /** The arguments, fitted and validated, frozen; as given if the call cannot run. */
  get args(): unknown {
    this.#frozen ??= copy(this.#args, Object.freeze)
    return this.#frozen
  }

  set args(args: unknown) {
    this.#args = args
    this.#frozen = undefined
  }

  /** The arguments for the tool: exactly what interceptors saw, if they looked. */
  toolArguments(): Record<string, unknown> {
    const args = this.#frozen === undefined ? this.#args : copy(this.#frozen, same => same)
    return args as Record<string, unknown>
  }

  /** What interceptors record about the call, for observers: the policy's rule, the approval, the trace. */
  get notes(): Record<string, unknown> {
    this.noted ??= {}
    return this.noted
  }

  /** Metadata passed on to the tool (`_meta` of an MCP call): `traceparent` … May be added to. */
  get meta(): Record<string, unknown> {
    this.#meta ??= { ...this.options.meta }
    return this.#meta
  }

  addRepairs(repairs: readonly string[] | undefined): void {
    if (repairs) this.repairs = [...(this.repairs ?? []), ...repairs]
  }

  /** Since the call began, in milliseconds with three decimals. */
  get elapsedMs(): number {
    return Math.round((this.services.clock.now() - this.startedAt) * 1_000) / 1_000
  }

  /** Notes when an observed call leaves a stage. */
  mark(name: string): void {
    if (!this.stages) return
    const last = this.stages.at(-1)
    const start_ms = last ? last.start_ms + last.duration_ms : 0
    this.stages.push({ name, start_ms, duration_ms: this.elapsedMs - start_ms })
  }

  enterInterceptors(): void {
    this.isIntercepted = true
    this.#enteredAt = this.services.clock.now()
  }

  /** Counts the time since it reached the interceptors, if it has not left them yet, as a wait. */
  leaveInterceptors(): void {
    if (this.#enteredAt === undefined) return
    this.#begunAt = this.services.clock.now()
    this.waitedMs += this.#begunAt - this.#enteredAt
    this.#enteredAt = undefined
  }

  /**
   * Runs `work` until it settles, its time is up or the call is cancelled; resolves to what `settle` makes of that. A late
   * answer is dropped and logged.
   */
  runInTime<T>(work: (context: CallContext) => unknown, settle: Settle<T>): Promise<T> {
    if (this.isCancelled) return Promise.resolve(settle(this, cancelled(this.name), undefined))
    this.#limitMs = this.#stepMs
    this.deadlineAt = this.#begunAt + this.#limitMs
    return new Promise(resolve => {
      this.#settle = (failure, value) => resolve(settle(this, failure, value))
      this.services.deadlines.add(this)
      void this.#work(work)
    })
  }

  async #work(work: (context: CallContext) => unknown): Promise<void> {
    try {
      const value = await work(this)
      if (!this.#end(undefined, value)) this.warn('Late answer dropped: the call had ended')
    } catch (error) {
      // Most tools reject once their signal is aborted: nothing to report.
      if (this.isRunning) this.#end(classifyError(error, this.tool as Tool))
    }
  }

  get isRunning(): boolean {
    return this.#settle !== undefined
  }

  /** How long the tool may take without progress. */
  get #stepMs(): number {
    return timeLimit(this.timeoutMs, this.tool, this.services.timeoutMs)
  }

  /** Returns `false` if it had already ended. */
  #end(failure: Failure | undefined, value?: unknown): boolean {
    const settle = this.#settle
    if (!settle) return false
    if (this.#holds > 0) this.#endHold()
    this.#settle = undefined
    this.services.deadlines.remove(this)
    settle(failure, value)
    return true
  }

  expire(): void {
    const afterMs = Math.round(this.#limitMs)
    if (this.#end(timedOut(this.name, afterMs))) this.#abort(`timed out after ${afterMs} ms`)
  }

  /** Cancels the call at any stage, as its caller could. */
  cancel(): void {
    if (this.isCancelled) return
    this.isCancelled = true
    this.#end(cancelled(this.name))
    this.#abort('was cancelled')
  }

  /** Pauses the deadline of the running tool while `work` runs, for as long as a person may take. */
  async hold<T>(work: () => Promise<T>): Promise<T> {
    if (!this.isRunning) return work()
    if (this.#holds++ === 0) {
      this.#heldAt = this.services.clock.now()
      this.deadlineAt += QUESTION_MS
    }
    try {
      return await work()
    } finally {
      if (--this.#holds === 0 && this.isRunning) this.#endHold()
    }
  }

  /** Time spent waiting for a person or a model is not the tool's. */
  #endHold(): void {
    const heldMs = Math.min(this.services.clock.now() - this.#heldAt, QUESTION_MS)
    this.deadlineAt += heldMs - QUESTION_MS
    this.waitedMs += heldMs
    this.services.deadlines.watch(this)
  }

  /** Aborts at the deadline, and when the caller gives up or somebody cancels the call. Created when first read. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#isAborted) this.#controller.abort()
    return this.#controller.signal
  }

  /** Like a listener on `signal`, without the cost of a signal. */
  onAbort(listener: () => void): void {
    if (this.#isAborted) return listener()
    this.#abortListeners = [...(this.#abortListeners ?? []), listener]
  }

  /** Ends what the tool is doing. */
  #abort(reason: string): void {
    this.#isAborted = true
    const onError = (error: unknown) => this.warn("The tool's abort listener failed", error)
    if (this.#controller) abortSafely(this.#controller, `The call ${reason}`, onError)
    for (const listener of this.#abortListeners ?? []) quietly(listener, onError)
  }

  /** Logs what is reported nowhere else: a late answer, a failed listener. */
  warn(message: string, error?: unknown): void {
    const cause = error === undefined ? {} : { error: safeText(describeThrown(error)) }
    this.services.logger.warn({ tool: safeText(this.name), call_id: this.id, ...cause }, message)
  }

  /** Whether the caller asked for progress, or the deadline depends on it. */
  get wantsProgress(): boolean {
    const { event, services, options, tool } = this
    return Boolean(options.onProgress || tool?.maxTimeoutMs || (event && services.observers.wantProgress))
  }

  /** Reports progress to the caller; extends the deadline if the tool has a `maxTimeoutMs`. */
  reportProgress(progress: Progress): void {
    if (!this.isRunning) return
    if (this.tool?.maxTimeoutMs !== undefined) this.#extend(this.tool.maxTimeoutMs)
    if (this.event) this.services.observers.progress(this.event.serial, progress)
    this.#guarded('onProgress', this.options.onProgress)?.(progress)
  }

  /** Starts the time limit over, up to `maxMs` in all. While a question is open, time stands still. */
  #extend(maxMs: number): void {
    const now = this.#holds > 0 ? this.#heldAt + QUESTION_MS : this.services.clock.now()
    const extraMs = Math.min(this.#stepMs - (this.deadlineAt - now), maxMs - this.#limitMs)
    if (extraMs <= 0) return
    this.#limitMs += extraMs
    this.deadlineAt += extraMs
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
      if (this.isInvoked && !this.isRunning) return { action: 'cancel' }
      return this.hold(() => ask({ ...question, signal: this.#until(question.signal) }))
    }
  }

  get sample(): Caller['sample'] {
    const { sample } = this.options
    if (!sample) return undefined
    return (params, options) =>
      this.hold(() => sample(params, { ...options, signal: this.#until(options.signal) }))
  }

  get onTask(): Caller['onTask'] {
    return this.#guarded('onTask', this.options.onTask)
  }

  get onLog(): Caller['onLog'] {
    return this.#guarded('onLog', this.options.onLog)
  }

  /** A callback with its errors logged instead of thrown into the tool. */
  #guarded<Args extends unknown[]>(name: string, callback: ((...args: Args) => void) | undefined) {
    if (!callback) return undefined
    const onError = (error: unknown) => this.warn(`${name} failed`, error)
    return (...args: Args) => quietly(() => callback(...args), onError)
  }

  #until(signal: AbortSignal | undefined): AbortSignal {
    return signal ? AbortSignal.any([this.signal, signal]) : this.signal
  }
}

/** A deep copy of plain data. Other objects, such as dates, are kept as they are. */
function copy(value: unknown, seal: (copied: object) => object): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return seal(value.map(entry => copy(entry, seal)))
  const prototype = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return value
  return seal(Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, copy(entry, seal)])))
}
