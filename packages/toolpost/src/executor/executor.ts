import type { ToolCall } from '../call/tool-call.ts'
import type { ToolResult } from '../call/tool-result.ts'
import { type Logger, silentLogger } from '../logging/logger.ts'
import { quietLogger } from '../logging/quiet-logger.ts'
import { type Clock, systemClock } from '../runtime/clock.ts'
import { describeThrown, quietly } from '../runtime/quietly.ts'
import type { Tool } from '../tools/tool.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import { type Chain, compose, type Interceptor } from './chain.ts'
import { CallContext, type DryRun, type Services } from './context.ts'
import { deadlinesOf } from './deadlines.ts'
import { cancelled, Failure, timedOut, toolError } from './failure.ts'
import { findTool } from './find.ts'
import { fit } from './fit.ts'
import { logCall } from './log.ts'
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
import { type Plan, Plans, redefined } from './plan.ts'
import { failureResult, resultOf } from './result.ts'
import { limitOf, timeBox, timeLimit } from './time-box.ts'

/** What would happen to a call. */
export interface DryRunResult extends DryRun {
  tool: Tool | undefined
  failure: Failure | undefined
  result: ToolResult
}

/** Runs tool calls. Every call gets exactly one ToolResult; nothing here rejects because of a call. */
export class ToolExecutor {
  readonly metrics = new Metrics()
  /** The tools that can be called. */
  readonly tools: ToolManager
  readonly clock: Clock
  readonly #timeoutMs: number
  readonly #slowMs: number
  readonly #maxTextBytes: number
  readonly #logger: Logger
  readonly #observers = new Observers()
  readonly #services: Services
  readonly #plans: Plans
  /** Replaced, never changed: a call keeps the interceptors it started with. */
  #interceptors: readonly Interceptor[] = []
  #chain: Chain = compose([])

  constructor(tools: ToolManager, options: ExecutorOptions = {}) {
    this.tools = tools
    this.clock = options.clock ?? systemClock
    this.#timeoutMs = limitOf(options.timeoutMs) ?? DEFAULT_TIMEOUT_MS
    this.#slowMs = limitOf(options.slowMs) ?? DEFAULT_SLOW_MS
    this.#maxTextBytes = limitOf(options.maxTextBytes) ?? DEFAULT_MAX_TEXT_BYTES
    // A logger that fails, say on a full disk, must not turn a result into a failure.
    this.#logger = quietLogger(options.logger)
    this.#plans = new Plans(tools, this.#logger)
    this.#services = {
      tools,
      clock: this.clock,
      deadlines: deadlinesOf(this.clock),
      observers: this.#observers,
      logger: this.#logger,
    }
  }

  /** Runs a call of a tool object: its arguments and result are typed. */
  run<Args extends object, Result>(
    call: TypedCall<Args, Result>,
    options?: RunOptions,
  ): Promise<ToolResult<ValueOf<Result>>>
  /** Runs a call; never rejects. */
  run(call: ToolCall, options?: RunOptions): Promise<ToolResult>
  async run(call: ToolCall | TypedCall<object, unknown>, options?: RunOptions): Promise<ToolResult> {
    const context = new CallContext(call, options, this.#services)
    this.metrics.begin()
    this.#observers.begin(context)
    return this.#finish(context, await this.#attempt(context))
  }

  /** Runs a call for a model: resolves to the text for it, `Error: …` if the call failed. No repair; never rejects. */
  async execute(name: string, args?: unknown, options?: ExecuteOptions): Promise<string> {
    const { signal, timeoutMs } = options ?? {}
    return this.text(await this.run({ name, args }, { signal, timeoutMs }))
  }

  /** Takes a call through every stage except invoking the tool: says what the policy decides, or why it cannot run. */
  async dryRun(call: ToolCall, options?: RunOptions): Promise<DryRunResult> {
    const context = new CallContext(call, options, this.#services)
    const dryRun = {}
    context.dryRun = dryRun
    const result = await this.#attempt(context)
    context.close()
    return { ...dryRun, tool: context.tool, failure: context.failure, result }
  }

  /** How long a call may take: its caller's limit, else the tool's, else the executor's. */
  timeoutMsOf(name: string, options: Pick<RunOptions, 'timeoutMs'>): number {
    return timeLimit(options, this.tools.findTool(name) ?? {}, this.#timeoutMs)
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
    // The same one may be added twice.
    const own: Interceptor = Object.defineProperty((context, next) => interceptor(context, next), 'name', {
      value: interceptor.name,
    }) as Interceptor
    this.#compose([...this.#interceptors, own])
    return () => this.#compose(this.#interceptors.filter(one => one !== own))
  }

  #compose(interceptors: readonly Interceptor[]): void {
    this.#interceptors = interceptors
    this.#chain = compose(interceptors)
  }

  /** Find, fit, intercept, invoke. What is usually there at once is not awaited: each await costs a tenth of a call. */
  async #attempt(context: CallContext): Promise<ToolResult> {
    try {
      if (context.options.signal) context.followSignal(context.options.signal)
      const found = this.#find(context)
      const plan = found instanceof Promise ? await found : found
      const unfit = plan && this.#fit(context, plan)
      if (unfit) context.failure = unfit instanceof Promise ? await unfit : unfit
      return await (this.#interceptors.length === 0
        ? this.#invoke(context, plan)
        : this.#intercept(context, plan))
    } catch (error) {
      return this.#unexpected(context, error)
    }
  }

  /** Finds the tool, and reads it if this is its first call. */
  #find(context: CallContext): Plan | undefined | Promise<Plan | undefined> {
    const tool = context.tool ?? findTool(this.tools, context.name, context.options)
    if (tool instanceof Failure) {
      context.failure = tool
      return undefined
    }
    context.tool = tool
    if (context.serial !== undefined) context.foundMs = context.elapsedMs
    const usable = (plan: Plan | Failure) => {
      if (!(plan instanceof Failure)) return plan
      context.failure = plan
      return undefined
    }
    const plan = this.#plans.get(tool)
    return plan ? usable(plan) : this.#plans.make(tool).then(usable)
  }

  #fit(context: CallContext, plan: Plan): Failure | undefined | Promise<Failure | undefined> {
    const timeoutMs = timeLimit(context.options, plan.tool, this.#timeoutMs)
    // Its time ran out while its request was being read.
    if (context.beforeMs >= timeoutMs) return timedOut(context.name, timeoutMs)
    const failure = fit(context, plan, timeoutMs)
    if (context.serial !== undefined) context.fittedMs = context.elapsedMs
    return failure
  }

  /** Runs the interceptors around the tool. A caller who gives up while they wait is answered at once. */
  async #intercept(context: CallContext, plan: Plan | undefined): Promise<ToolResult> {
    const since = this.clock.now()
    let isPassed = false
    const invoke = async () => {
      isPassed = true
      context.waitedMs += this.clock.now() - since
      const result = await this.#invoke(context, plan)
      result.execution_time_ms = context.elapsedMs
      return result
    }
    const answer = await context.unlessCancelled(this.#chain(context, invoke))
    if (!isPassed) context.waitedMs = this.clock.now() - since
    return answer ?? failureResult(cancelled(context.name), context)
  }

  /** Runs the tool within its deadline. After a wait it must still be the tool that the interceptors saw. */
  async #invoke(context: CallContext, plan: Plan | undefined): Promise<ToolResult> {
    if (context.failure) return failureResult(context.failure, context)
    if (!plan) return failureResult(toolError('The call has no tool'), context)
    const changed = context.waitedMs >= 1 ? redefined(plan.tool, context, this.tools) : undefined
    if (changed) return failureResult(changed, context)
    if (context.dryRun)
      return { success: true, result: undefined, tool_name: context.name, execution_time_ms: 0 }
    const timeoutMs = timeLimit(context.options, plan.tool, this.#timeoutMs)
    context.isInvoked = !context.isCancelled
    const ending = await timeBox(context, timeoutMs, () => plan.invoke(context))
    try {
      return resultOf(ending, plan, context)
    } catch (error) {
      return this.#unexpected(context, error)
    }
  }

  /** For values that throw when they are read. */
  #unexpected(context: CallContext, error: unknown): ToolResult {
    return failureResult(toolError(`The call failed unexpectedly: ${describeThrown(error)}`), context)
  }

  /** Completes, counts and logs the result: exactly once per call. */
  #finish(context: CallContext, result: ToolResult): ToolResult {
    const { id, repairs, waitedMs } = context
    context.close()
    result.execution_time_ms = context.elapsedMs
    if (id !== undefined) result.tool_call_id = id
    if (repairs) result.repairs = repairs
    if (waitedMs >= 1) result.waited_ms = Math.round(waitedMs)
    this.metrics.end(context, result)
    const settings = { tools: this.tools.getTools(), slowMs: this.#slowMs }
    if (this.#logger !== silentLogger) quietly(() => logCall(this.#logger, context, result, settings))
    this.#observers.end(context, result)
    return result
  }
}
