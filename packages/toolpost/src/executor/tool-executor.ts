import type { ToolCall } from '../call/tool-call.ts'
import type { ToolResult } from '../call/tool-result.ts'
import { type Logger, silentLogger } from '../logging/logger.ts'
import { quietLogger } from '../logging/quiet-logger.ts'
import { type Clock, systemClock } from '../runtime/clock.ts'
import { isHeavy } from '../runtime/guards.ts'
import { describeThrown, quietly } from '../runtime/quietly.ts'
import { laterTurn } from '../runtime/turns.ts'
import type { Tool } from '../tools/tool.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import { type Attempt, attemptOf, elapsedMs } from './attempt.ts'
import { logCall, logRepairs } from './call-log.ts'
import { CallOptions } from './call-options.ts'
import { type Deadlines, deadlinesOf, limitOf, overdue, timeLimit } from './deadlines.ts'
import { cancelled, Failure, toolError } from './failure.ts'
import { findTool } from './find-tool.ts'
import { type Fitted, fitArguments, type LateFitting } from './fit-arguments.ts'
import { type Foreseen, foresee } from './foresee.ts'
import type { InterceptedParts, Interceptor, Next } from './intercept.ts'
import { InterceptedCall, Interceptors } from './intercept.ts'
import { Metrics } from './metrics.ts'
import { modelText } from './model-text.ts'
import { type CallObserver, type ObserveOptions, Observers } from './observers.ts'
import {
  DEFAULT_MAX_TEXT_BYTES,
  DEFAULT_SLOW_MS,
  DEFAULT_TIMEOUT_MS,
  type ExecuteOptions,
  type ExecutorOptions,
  type RunOptions,
  type TypedCall,
  type ValueOf,
} from './options.ts'
import { type Plan, type Prepared, PreparedTools } from './plan.ts'
import { completeResult, failureOf, shapeFailure, shapeResult } from './shape-result.ts'
import { type CallDefaults, type Ending, Limits, RunningCall, timeBox } from './time-box.ts'
import { argumentsFromText } from './validate-arguments.ts'

/**
 * The only path of a tool call: find, fit, validate, intercept, time-box, shape.
 * Every call gets exactly one ToolResult; nothing here throws or rejects because of a call.
 */
export class ToolExecutor {
  readonly metrics = new Metrics()
  /** The tools that can be called. */
  readonly tools: ToolManager
  readonly clock: Clock
  readonly #defaults: CallDefaults
  readonly #maxTextBytes: number
  readonly #slowMs: number
  readonly #logger: Logger
  readonly #deadlines: Deadlines
  readonly #observers = new Observers()
  readonly #interceptors: Interceptors
  readonly #prepared: PreparedTools

  constructor(tools: ToolManager, options: ExecutorOptions = {}) {
    this.tools = tools
    this.#maxTextBytes = limitOf(options.maxTextBytes) ?? DEFAULT_MAX_TEXT_BYTES
    // A logger that fails, say on a full disk, must not turn a result into a failure.
    this.#logger = quietLogger(options.logger)
    this.#defaults = {
      timeoutMs: limitOf(options.timeoutMs) ?? DEFAULT_TIMEOUT_MS,
      logger: this.#logger,
      observers: this.#observers,
    }
    this.#slowMs = limitOf(options.slowMs) ?? DEFAULT_SLOW_MS
    this.clock = options.clock ?? systemClock
    this.#deadlines = deadlinesOf(this.clock)
    this.#interceptors = new Interceptors(this.clock)
    this.#prepared = new PreparedTools(tools, this.metrics, this.#logger)
  }

  /** Runs a call of a tool object: its arguments and result are typed. */
  run<Args extends object, Result>(
    call: TypedCall<Args, Result>,
    options?: RunOptions,
  ): Promise<ToolResult<ValueOf<Result>>>
  /** Runs a call; never rejects. Not an async function: each additional promise costs a tenth of a call. */
  run(call: ToolCall, options?: RunOptions): Promise<ToolResult>
  run(call: ToolCall | TypedCall<object, unknown>, options?: RunOptions): Promise<ToolResult> {
    this.metrics.begin()
    const attempt = attemptOf(call, options, this.clock.now())
    try {
      const { name, args, options: given } = attempt
      if (this.#observers.isWatching) attempt.event = this.#observers.begin(attempt)
      const tool = findTool(this.tools, name, given)
      if (tool instanceof Failure) return this.#refuse(attempt, tool)
      const prepared = this.#prepared.get(tool)
      if (!prepared || typeof args === 'string') return this.#prepareAndProceed(attempt, tool)
      return this.#proceed(attempt, prepared, args ?? {})
    } catch (error) {
      return Promise.resolve(this.#failUnexpectedly(attempt, error))
    }
  }

  /** Runs a call for a model: resolves to the text for it, `Error: …` if the call failed. No repair; never rejects. */
  async execute(name: string, args?: unknown, options?: ExecuteOptions): Promise<string> {
    const { signal, timeoutMs } = options ?? {}
    return this.text(await this.run({ name, args }, { signal, timeoutMs }))
  }

  /** Predicts what would happen to a call, without running it. */
  foresee(call: ToolCall, options: RunOptions = {}): Promise<Foreseen> {
    return foresee(call, options, { prepared: this.#prepared, interceptors: this.#interceptors })
  }

  /** How long a call may take: its caller's limit, else the tool's, else the executor's. */
  timeoutMsOf(name: string, options: Pick<RunOptions, 'timeoutMs'>): number {
    return timeLimit(options, this.tools.findTool(name) ?? {}, this.#defaults.timeoutMs)
  }

  /** The text of a result for a model. */
  text(result: ToolResult): string {
    return modelText(result, this.#maxTextBytes)
  }

  /** Notifies `observer` when a call begins and when it ends; returns a function that removes it. */
  observe(observer: CallObserver, options?: ObserveOptions): () => void {
    return this.#observers.add(observer, options)
  }

  /** Wraps `interceptor` around every call from now on, inside those added before; returns a function that removes it. */
  use(interceptor: Interceptor): () => void {
    return this.#interceptors.add(interceptor)
  }

  /** For the first call of a tool, which has to be read, and for calls whose arguments are text. */
  async #prepareAndProceed(attempt: Attempt, tool: Tool): Promise<ToolResult> {
    const { args, options } = attempt
    try {
      const prepared = await this.#prepared.prepare(tool)
      // Text is parsed if repairs are allowed, otherwise refused.
      const read = typeof args === 'string' && options.repair ? await argumentsFromText(args) : undefined
      if (read) attempt.repairs = ['arguments: text → object']
      return await this.#proceed(attempt, prepared, read ?? args ?? {})
    } catch (error) {
      return this.#failUnexpectedly(attempt, error)
    }
  }

  /** Fits and validates the arguments, then runs the tool within its deadline. */
  #proceed(attempt: Attempt, { plan, figures }: Prepared, given: unknown): Promise<ToolResult> {
    attempt.figures = figures
    if (attempt.event) attempt.foundMs = elapsedMs(attempt, this.clock)
    if (plan instanceof Failure) return this.#refuse(attempt, plan)
    const late = overdue(attempt, plan.tool, this.#defaults.timeoutMs)
    const fitted = late ?? fitArguments(plan, given, attempt.options.repair === true)
    if (typeof fitted === 'function') return this.#whenFitted(attempt, plan, fitted)
    return this.#invoke(attempt, plan, fitted)
  }

  /** Fitting that takes time is part of the call: it has the same deadline and the same caller. */
  #whenFitted(attempt: Attempt, plan: Plan, fit: LateFitting): Promise<ToolResult> {
    return new Promise(resolve => {
      const end = (ending: Ending) =>
        resolve(
          ending.kind === 'value'
            ? this.#invoke(attempt, plan, ending.value as Fitted | Failure)
            : this.#refuse(attempt, failureOf(ending, plan, attempt), plan.tool),
        )
      const call = new RunningCall(new Limits(attempt, plan.tool, this.#defaults), this.#deadlines, end)
      attempt.running = call
      call.waitFor(fit(new CallOptions(call)))
      if (attempt.isCancelled || attempt.options.signal?.aborted) call.cancel()
    })
  }

  #invoke(attempt: Attempt, plan: Plan, fitted: Fitted | Failure): Promise<ToolResult> {
    if (fitted instanceof Failure) return this.#refuse(attempt, fitted, plan.tool)
    const { args, repairs } = fitted
    if (attempt.event) attempt.fittedMs = elapsedMs(attempt, this.clock)
    if (repairs || attempt.repairs) {
      attempt.repairs = [...(attempt.repairs ?? []), ...(repairs ?? [])]
      logRepairs(this.#logger, attempt)
    }
    if (this.#interceptors.isEmpty) return this.#runTool(attempt, plan, args)
    return this.#intercept(attempt, { tool: plan.tool, args }, () => this.#runTool(attempt, plan, args))
  }

  /** Answers a call that cannot run. Interceptors see it too. */
  #refuse(attempt: Attempt, failure: Failure, tool?: Tool): Promise<ToolResult> {
    if (this.#interceptors.isEmpty) return Promise.resolve(this.#fail(attempt, failure))
    const parts = { tool, args: attempt.args, failure }
    return this.#intercept(attempt, parts, async () => this.#fail(attempt, failure))
  }

  /** An intercepted call ends when the interceptors have answered, or when its caller gives up waiting for them. */
  async #intercept(attempt: Attempt, parts: InterceptedParts, goOn: Next): Promise<ToolResult> {
    attempt.isIntercepted = true
    const passage = this.#interceptors.around(new InterceptedCall(attempt, parts, this.tools), waitedMs => {
      attempt.waitedMs = waitedMs
      return goOn()
    })
    const answer = await passage.answer()
    attempt.waitedMs = Math.max(attempt.waitedMs, passage.waitedMs)
    const result = answer ? this.#finish(attempt, answer) : this.#fail(attempt, cancelled(attempt.name))
    this.#record(attempt, Object.assign(result, { execution_time_ms: elapsedMs(attempt, this.clock) }))
    return result
  }

  #runTool(attempt: Attempt, plan: Plan, args: Fitted['args']): Promise<ToolResult> {
    return new Promise(resolve => {
      const end = (ending: Ending) => resolve(this.#answer(attempt, plan, ending))
      const call = new RunningCall(new Limits(attempt, plan.tool, this.#defaults), this.#deadlines, end)
      attempt.running = call
      if (attempt.isCancelled) call.cancel()
      else timeBox(plan, args, call)
    })
  }

  #answer(attempt: Attempt, plan: Plan, ending: Ending): ToolResult {
    try {
      return this.#finish(attempt, shapeResult(ending, plan, attempt, elapsedMs(attempt, this.clock)))
    } catch (error) {
      return this.#failUnexpectedly(attempt, error)
    }
  }

  #fail(attempt: Attempt, failure: Failure): ToolResult {
    return this.#finish(attempt, shapeFailure(failure, attempt, elapsedMs(attempt, this.clock)))
  }

  /** For values that throw when they are read. */
  #failUnexpectedly(attempt: Attempt, error: unknown): ToolResult {
    return this.#fail(attempt, toolError(`The call failed unexpectedly: ${describeThrown(error)}`))
  }

  /** Last stage: completes, counts and logs the result. Inside interceptors it is not yet the final answer. */
  #finish(attempt: Attempt, result: ToolResult): ToolResult {
    completeResult(result, attempt)
    if (!attempt.isIntercepted) this.#record(attempt, result)
    return result
  }

  #record(attempt: Attempt, result: ToolResult): void {
    this.metrics.end(attempt, result)
    // The answer goes first: cleaning and copying heavy values takes milliseconds.
    const isLater = isHeavy(attempt.args) || (result.success && isHeavy(result.result))
    if (isLater) void laterTurn().then(() => this.#report(attempt, result))
    else this.#report(attempt, result)
  }

  #report(attempt: Attempt, result: ToolResult): void {
    const settings = { tools: this.tools, slowMs: this.#slowMs }
    if (this.#logger !== silentLogger) quietly(() => logCall(this.#logger, attempt, result, settings))
    if (attempt.event) this.#observers.end(attempt.event, result, attempt)
  }
}
