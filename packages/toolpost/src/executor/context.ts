import type { ToolCall } from '../call/tool-call.ts'
import type { ToolResult } from '../call/tool-result.ts'
import type { Logger } from '../logging/logger.ts'
import type { Clock } from '../runtime/clock.ts'
import { describeThrown, quietly } from '../runtime/quietly.ts'
import type { Ask, Caller } from '../tools/caller.ts'
import type { InvokeOptions, Progress, ServerRequest, Tool } from '../tools/tool.ts'
import type { McpOrigin, ToolManager } from '../tools/tool-manager.ts'
import { abortSafely, unwatch, watch } from './abort.ts'
import type { Deadlines } from './deadlines.ts'
import { cancelled, type Failure, toolError } from './failure.ts'
import { frozenCopy, plainCopy } from './frozen.ts'
import { logWarning } from './log.ts'
import type { CallEvent, CallStage, Observers } from './observers.ts'
import type { RunOptions, TypedCall } from './options.ts'
import type { Plan } from './plan.ts'
import type { TimeBox } from './time-box.ts'

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
  asks?: { because?: string | undefined; timeoutMs?: number | undefined }
}

/** What would happen to a call. */
export interface DryRunResult extends DryRun {
  tool: Tool | undefined
  failure: Failure | undefined
  result: ToolResult
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
  readonly services: Services
  readonly startedAt: number
  /** How long before `run` the call began: reading its request counts against its deadline. */
  readonly beforeMs: number
  /** `undefined` if none was found. */
  tool: Tool | undefined
  /** What the executor knows about the tool. */
  plan: Plan | undefined = undefined
  /** Why the call cannot run: `next()` resolves to it. */
  failure: Failure | undefined = undefined
  repairs: string[] | undefined = undefined
  /** Of observed calls: its number, and what observers were told when it began. */
  serial: string | undefined = undefined
  event: CallEvent | undefined = undefined
  /** Of observed calls: the stages that it left. */
  stages: CallStage[] | undefined = undefined
  /** How long the call waited: for a person, for a free slot. */
  waitedMs = 0
  /** Set if the call is only tried out: nothing may be changed, counted or asked. */
  dryRun: DryRun | undefined = undefined
  isCancelled = false
  /** Whether the tool was started: from then on, cancelling the call cannot undo it. */
  isInvoked = false
  /** When it reached the interceptors, if there are any. */
  enteredAt: number | undefined = undefined
  /** The result that the executor made for it; an interceptor may answer with another. */
  own: ToolResult | undefined = undefined
  /** The time limit that is running now, or ran last. */
  box: TimeBox | undefined = undefined
  /** Called if the call is cancelled before its tool was started. */
  onCancel: (() => void) | undefined = undefined
  #args: unknown
  #frozen: unknown = undefined
  #more: More | undefined = undefined

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
    this.options = options ?? NO_OPTIONS
    this.services = services
    this.tool = tool
    this.#args = args
    const now = services.clock.now()
    let startedAt = now
    try {
      startedAt = this.options.startedAt ?? now
      if (this.options.signal) watch(this.options.signal, this)
    } catch (error) {
      this.failure = toolError(`The options of the call cannot be used: ${describeThrown(error)}`)
    }
    this.startedAt = startedAt
    this.beforeMs = now - startedAt
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
    return (this.#frozen === undefined ? this.#args : plainCopy(this.#frozen)) as Record<string, unknown>
  }

  /** The call cannot run. */
  fail(failure: Failure | undefined): undefined {
    this.failure ??= failure
  }

  /** The MCP server that the tool comes from. */
  get server(): string | undefined {
    return this.#mcp?.server
  }

  /** The server's own name for the tool, if that is another one. */
  get originalName(): string | undefined {
    return this.#mcp?.name
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

  get logger(): Logger {
    return this.services.logger
  }

  /** What interceptors record about the call, for observers: the policy's rule, the approval, the trace. */
  get notes(): Record<string, unknown> {
    this.#rare.notes ??= {}
    return this.#rare.notes
  }

  get hasNotes(): boolean {
    return this.#more?.notes !== undefined
  }

  /** Metadata passed on to the tool (`_meta` of an MCP call): `traceparent` … May be added to. */
  get meta(): Record<string, unknown> {
    this.#rare.meta ??= { ...this.options.meta }
    return this.#rare.meta
  }

  /** Called with the request to the tool's server, if it has one. */
  get onRequest(): ((request: ServerRequest) => void) | undefined {
    return this.#guarded('onRequest', this.#more?.onRequest)
  }

  set onRequest(listener: ((request: ServerRequest) => void) | undefined) {
    this.#rare.onRequest = listener
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

  /** Counts the time since it reached the interceptors as a wait. Returns when the tool can start. */
  passInterceptors(): number {
    if (this.enteredAt === undefined) return this.startedAt + this.beforeMs
    const now = this.services.clock.now()
    this.waitedMs += now - this.enteredAt
    this.enteredAt = undefined
    return now
  }

  /** Aborts at the deadline, and when the caller gives up or somebody cancels the call. Created when first read. */
  get signal(): AbortSignal {
    const rare = this.#rare
    rare.controller ??= new AbortController()
    if (rare.isAborted && !rare.controller.signal.aborted) rare.controller.abort()
    return rare.controller.signal
  }

  /** Like a listener on `signal`, without the cost of a signal. */
  onAbort(listener: () => void): void {
    const rare = this.#rare
    if (rare.isAborted) return listener()
    rare.abortListeners ??= []
    rare.abortListeners.push(listener)
  }

  /** Ends what the tool is doing. */
  abort(reason: string): void {
    const rare = this.#rare
    rare.isAborted = true
    const onError = (error: unknown) => this.warn("The tool's abort listener failed", error)
    if (rare.controller)
      abortSafely(rare.controller, new DOMException(`The call ${reason}`, 'AbortError'), onError)
    for (const listener of rare.abortListeners ?? []) quietly(listener, onError)
  }

  /** Cancels the call at any stage, as its caller could. */
  cancel(): void {
    if (this.isCancelled) return
    this.isCancelled = true
    this.box?.end(cancelled(this.name))
    this.abort('was cancelled')
    if (!this.isInvoked) this.onCancel?.()
  }

  /** Forgets the caller's signal, and what listens for the end of the call. */
  close(): void {
    if (this.options.signal) unwatch(this.options.signal, this)
    if (this.#more) this.#more.abortListeners = undefined
  }

  /** Whether the caller asked for progress, or the deadline depends on it. */
  get wantsProgress(): boolean {
    return (
      this.options.onProgress !== undefined ||
      this.tool?.maxTimeoutMs !== undefined ||
      (this.serial !== undefined && this.services.observers.wantProgress)
    )
  }

  /** Reports progress to the caller; extends the deadline if the tool has a `maxTimeoutMs`. */
  reportProgress(progress: Progress): void {
    if (!this.box?.isRunning) return
    if (this.tool?.maxTimeoutMs !== undefined) this.box.extend(this.tool.maxTimeoutMs)
    if (this.serial !== undefined) this.services.observers.progress(this.serial, progress)
    this.#guarded('onProgress', this.options.onProgress)?.(progress)
  }

  /** Pauses the deadline of the running tool while `work` runs, for as long as a person may take. */
  hold<T>(work: () => Promise<T>): Promise<T> {
    return this.box?.isRunning ? this.box.hold(work) : work()
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
      if (this.isInvoked && !this.box?.isRunning) return { action: 'cancel' }
      return this.hold(() => ask({ ...question, signal: this.#until(question.signal) }))
    }
  }

  get sample(): Caller['sample'] {
    const { sample } = this.options
    if (!sample) return undefined
    return (params, options) =>
      this.hold(() => sample(params, { ...options, signal: this.#until(options.signal) }))
  }

  get roots(): Caller['roots'] {
    return this.options.roots
  }

  get onTask(): Caller['onTask'] {
    return this.#guarded('onTask', this.options.onTask)
  }

  get onLog(): Caller['onLog'] {
    return this.#guarded('onLog', this.options.onLog)
  }

  get onAddresses(): Caller['onAddresses'] {
    return this.options.onAddresses
  }

  /** Logs what is reported nowhere else: a late answer, a failed listener. */
  warn(message: string, error?: unknown): void {
    logWarning(this.logger, this, message, error)
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

  get #mcp(): McpOrigin | undefined {
    return this.plan ? this.plan.origin : this.tool && this.services.tools.originOf(this.tool)
  }

  get #rare(): More {
    this.#more ??= { isAborted: false }
    return this.#more
  }
}

/** What few calls need. */
interface More {
  isAborted: boolean
  notes?: Record<string, unknown>
  meta?: Record<string, unknown>
  controller?: AbortController
  abortListeners?: (() => void)[] | undefined
  onRequest?: ((request: ServerRequest) => void) | undefined
}
