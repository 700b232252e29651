import type { ToolCall } from '../call/tool-call.ts'
import type { ToolResult } from '../call/tool-result.ts'
import { safeText } from '../logging/safe-value.ts'
import { type Ask, type AskedBy, type Caller, QUESTION_MS } from '../tools/caller.ts'
import type { InvokeOptions, Progress, ServerRequest, Tool } from '../tools/tool.ts'
import type { McpOrigin } from '../tools/tool-manager.ts'
import { rounded } from '../util/clock.ts'
import { describeThrown, quietly } from '../util/quietly.ts'
import { cancelled, classifyError, type Failure, toolError, unexpected } from './failure.ts'
import type { Plan } from './fit.ts'
import type { CallEvent } from './observers.ts'
import type { RunOptions, Services, TypedCall } from './options.ts'
import { abortSafely, timeLimit, watch } from './time-box.ts'

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

type Work = (context: CallContext) => unknown
type Settle<T> = (context: CallContext, failure: Failure | undefined, value?: unknown) => T

const NO_OPTIONS: RunOptions = {}

/** One call on its way through the executor. Interceptors get it, and the tool gets it as its `InvokeOptions`. */
export class CallContext implements InvokeOptions {
  readonly id: string | undefined = undefined
  readonly callId: string | undefined = undefined
  readonly name: string = '(unreadable)'
  /** The arguments as the caller gave them. */
  readonly given: unknown = undefined
  readonly options: RunOptions
  readonly origin: string | undefined = undefined
  readonly caller: string | undefined = undefined
  readonly conversation: string | undefined = undefined
  readonly timeoutMs: number | undefined = undefined
  readonly roots: Caller['roots'] = undefined
  readonly services: Services
  readonly startedAt: number
  toolArgs: unknown = undefined
  tool: Tool | undefined = undefined
  /** Of MCP tools: where the tool came from, its server, and that server's own name for it. */
  mcp: McpOrigin | undefined = undefined
  server: string | undefined = undefined
  originalName: string | undefined = undefined
  plan: Plan | undefined = undefined
  /** Why the call cannot run: `next()` resolves to it. */
  failure: Failure | undefined = undefined
  /** The executor's own answer, before the interceptors looked at it. */
  result: ToolResult | undefined = undefined
  repairs: string[] | undefined = undefined
  noted: Record<string, unknown> | undefined = undefined
  event: CallEvent | undefined = undefined
  /** Set if the call is only tried out: nothing may be changed, counted or asked. */
  dryRun: DryRun | undefined = undefined
  onRequest: ((request: ServerRequest) => void) | undefined = undefined
  waitedMs = 0
  isCancelled = false
  /** Whether the tool was started: from then on, cancelling the call cannot undo it. */
  isInvoked = false
  deadlineAt = Number.POSITIVE_INFINITY
  place = -1
  /** When it reached the interceptors, if there are any, and when it left them. */
  enteredAt: number | undefined = undefined
  #leftAt: number | undefined = undefined
  #frozen: unknown = undefined
  #meta: Record<string, unknown> | undefined = undefined
  /** How long the running work may take without progress, and how long with what it reported. */
  #stepMs = 0
  #limitMs = 0
  /** While work is running: what makes a result of it, and who waits for that. */
  #settle: Settle<unknown> | undefined = undefined
  #resolve: ((result: never) => void) | undefined = undefined
  #holds = 0
  #heldAt = 0
  #isAborted = false
  #controller: AbortController | undefined = undefined
  #abortListeners: (() => void)[] | undefined = undefined

  constructor(call: ToolCall | TypedCall<object, unknown>, services: Services, options = NO_OPTIONS) {
    this.services = services
    this.options = options
    this.startedAt = services.clock.now()
    try {
      this.origin = options.origin
      this.caller = options.caller
      this.conversation = options.conversation
      this.timeoutMs = options.timeoutMs
      this.roots = options.roots
      this.startedAt = options.startedAt ?? this.startedAt
      const { id, args, name, tool } = (call ?? {}) as ToolCall & { tool?: Tool }
      const given = name ?? tool?.name ?? '(no name)'
      if (id != null) this.id = typeof id === 'string' ? id : describeThrown(id)
      this.callId = this.id
      this.name = typeof given === 'string' ? given : describeThrown(given)
      this.given = args
      this.toolArgs = args
      if (tool) this.options = { ...options, also: [tool] }
      if (options.signal) watch(options.signal, this)
    } catch (error) {
      this.options = NO_OPTIONS
      this.failure = toolError(`The call cannot be read: ${describeThrown(error)}`)
    }
  }

  /** The arguments, fitted and validated, frozen; as given if the call cannot run. The tool gets what was seen here. */
  get args(): unknown {
    if (this.#frozen === undefined) {
      this.toolArgs = copy(this.toolArgs, same => same)
      this.#frozen = copy(this.toolArgs, Object.freeze)
    }
    return this.#frozen
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

  get elapsedMs(): number {
    return rounded(this.services.clock.now() - this.startedAt)
  }

  /** Now; if it is observed, when it left its latest stage, a moment ago. Reading the clock costs time. */
  get stageEnd(): number {
    const last = this.event?.stages?.at(-1)
    return last ? this.startedAt + last.start_ms + last.duration_ms : this.services.clock.now()
  }

  /** Notes when an observed call leaves a stage. */
  mark(name: string): void {
    const { stages } = this.event ?? {}
    if (!stages) return
    const last = stages.at(-1)
    const start_ms = last ? rounded(last.start_ms + last.duration_ms) : 0
    stages.push({ name, start_ms, duration_ms: rounded(this.elapsedMs - start_ms) })
  }

  /** Counts the time since it reached the interceptors, if it has not left them yet, as a wait. */
  leaveInterceptors(): void {
    if (this.enteredAt === undefined || this.#leftAt !== undefined) return
    this.#leftAt = this.services.clock.now()
    this.waitedMs += this.#leftAt - this.enteredAt
    if (this.#leftAt - this.stageEnd >= 1) this.mark('interceptors')
  }

  /** Runs `work` until it settles, its time is up or the call is cancelled; resolves to what `settle` makes of that. */
  runInTime<T>(work: Work, settle: Settle<T>): Promise<T> {
    if (this.isCancelled) return Promise.resolve(settle(this, cancelled(this.name)))
    this.#stepMs = timeLimit(this.timeoutMs, this.tool, this.services.timeoutMs)
    this.#limitMs = this.#stepMs
    this.deadlineAt = (this.#leftAt ?? this.startedAt) + this.#limitMs
    this.#settle = settle
    return new Promise<T>(resolve => {
      this.#resolve = resolve
      this.services.deadlines.add(this)
      this.#work(work)
    })
  }

  /** Costs less than an `await`. Like that, it ignores a `then` that somebody gave to a real promise. */
  #work(work: Work): void {
    const fail = (error: unknown) => {
      // Most tools reject once their signal is aborted: nothing to report.
      if (this.#settle) this.#end(classifyError(error, this.tool as Tool))
    }
    const done = (value: unknown) => {
      if (!this.#end(undefined, value)) this.warn('Late answer dropped: the call had ended')
    }
    try {
      Promise.prototype.then.call(Promise.resolve(work(this)), done, fail)
    } catch (error) {
      fail(error)
    }
  }

  #end(failure: Failure | undefined, value?: unknown): boolean {
    const settle = this.#settle
    if (!settle) return false
    if (this.#holds > 0) this.#endHold()
    this.#settle = undefined
    this.services.deadlines.remove(this)
    let answer: unknown
    try {
      answer = settle(this, failure, value)
    } catch (error) {
      answer = settle(this, unexpected(error))
    }
    this.#resolve?.(answer as never)
    return true
  }

  expire(): void {
    const problem = `timed out after ${Math.round(this.#limitMs)} ms`
    if (this.#end({ code: 'timeout', error: `Tool '${this.name}' ${problem}` })) this.#abort(problem)
  }

  /** Cancels the call at any stage, as its caller could. */
  cancel(): void {
    if (this.isCancelled) return
    this.isCancelled = true
    this.#end(cancelled(this.name))
    this.#abort('was cancelled')
  }

  async hold<T>(work: () => Promise<T>): Promise<T> {
    if (!this.#settle) return work()
    if (this.#holds++ === 0) {
      this.#heldAt = this.services.clock.now()
      this.deadlineAt += QUESTION_MS
    }
    try {
      return await work()
    } finally {
      if (--this.#holds === 0 && this.#settle !== undefined) this.#endHold()
    }
  }

  /** Time spent waiting for a person or a model is not the tool's. */
  #endHold(): void {
    const heldMs = Math.min(this.services.clock.now() - this.#heldAt, QUESTION_MS)
    this.deadlineAt += heldMs - QUESTION_MS
    this.waitedMs += heldMs
    this.services.deadlines.watch(this)
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#isAborted) this.#controller.abort()
    return this.#controller.signal
  }

  onAbort(listener: () => void): void {
    if (this.#isAborted) return listener()
    this.#abortListeners = [...(this.#abortListeners ?? []), listener]
  }

  #abort(reason: string): void {
    this.#isAborted = true
    const onError = (error: unknown) => this.warn("The tool's abort listener failed", error)
    if (this.#controller) abortSafely(this.#controller, `The call ${reason}`, onError)
    for (const listener of this.#abortListeners ?? []) quietly(listener, onError)
  }

  warn(message: string, error?: unknown): void {
    const cause = error === undefined ? {} : { error: safeText(describeThrown(error)) }
    this.services.logger.warn({ tool: safeText(this.name), call_id: this.id, ...cause }, message)
  }

  get wantsProgress(): boolean {
    const { event, services, options, tool } = this
    return Boolean(options.onProgress || tool?.maxTimeoutMs || (event && services.observers.wantProgress))
  }

  reportProgress(progress: Progress): void {
    if (!this.#settle) return
    // While a question is open, time stands still.
    const now = this.#holds > 0 ? this.#heldAt + QUESTION_MS : this.services.clock.now()
    const leftMs = (this.tool?.maxTimeoutMs || 0) - this.#limitMs
    const extraMs = Math.max(0, Math.min(this.#stepMs - (this.deadlineAt - now), leftMs))
    this.#limitMs += extraMs
    this.deadlineAt += extraMs
    if (this.event) this.services.observers.progress(this.event.serial, progress)
    this.#guarded('onProgress')?.(progress)
  }

  get peer(): unknown {
    const { peer, ask, caller, origin } = this.options
    return peer ?? ask ?? caller ?? origin
  }

  get ask(): Ask | undefined {
    const { ask } = this.options
    const isOver = () => this.isInvoked && !this.#settle
    return ask && (async question => (isOver() ? { action: 'cancel' } : this.#held(question, ask)))
  }

  get sample(): Caller['sample'] {
    const { sample } = this.options
    return sample && ((params, options) => this.#held(options, held => sample(params, held)))
  }

  #held<Options extends AskedBy, T>(options: Options, ask: (options: Options) => Promise<T>): Promise<T> {
    const signal = options.signal ? AbortSignal.any([this.signal, options.signal]) : this.signal
    return this.hold(() => ask({ ...options, signal }))
  }

  get onTask(): Caller['onTask'] {
    return this.#guarded('onTask')
  }

  get onLog(): Caller['onLog'] {
    return this.#guarded('onLog')
  }

  /** A callback of the caller, with its errors logged instead of thrown into the tool. */
  #guarded(name: 'onProgress' | 'onTask' | 'onLog') {
    const callback = this.options[name] as ((value?: unknown) => void) | undefined
    const onError = (error: unknown) => this.warn(`${name} failed`, error)
    return callback && ((value?: unknown) => quietly(() => callback(value), onError))
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
