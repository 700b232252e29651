import type { ToolCall } from '../call/tool-call.ts'
import type { ToolResult } from '../call/tool-result.ts'
import { silentLogger } from '../logging/logger.ts'
import { quietLogger } from '../logging/quiet-logger.ts'
import { type Clock, systemClock } from '../runtime/clock.ts'
import { quietly } from '../runtime/quietly.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import { type Chain, compose, type Interceptor } from './chain.ts'
import { CallContext, type DryRun, type DryRunResult, type Services } from './context.ts'
import { deadlinesOf } from './deadlines.ts'
import { Failure } from './failure.ts'
import { findTool } from './find.ts'
import { fit } from './fit.ts'
import { logCall } from './log.ts'
import { Metrics } from './metrics.ts'
import { modelText } from './model-text.ts'
import { type CallObserver, type ObserveOptions, Observers } from './observers.ts'
import type { ExecuteOptions, ExecutorOptions, RunOptions, TypedCall, ValueOf } from './options.ts'
import { DEFAULT_MAX_TEXT_BYTES, DEFAULT_SLOW_MS, DEFAULT_TIMEOUT_MS } from './options.ts'
import { Plans, redefined } from './plan.ts'
import { complete, failureResult, resultOf, unexpected } from './result.ts'
import { limitOf, timeBox, timeLimit } from './time-box.ts'

/** Runs tool calls. Every call gets exactly one ToolResult; nothing here rejects because of a call. */
export class ToolExecutor {
  readonly metrics = new Metrics()
  /** The tools that can be called. */
  readonly tools: ToolManager
  readonly clock: Clock
  readonly #slowMs: number
  readonly #maxTextBytes: number
  readonly #services: Services
  readonly #plans: Plans
  /** Replaced, never changed: a call keeps the interceptors it started with. */
  #interceptors: readonly Interceptor[] = []
  #chain: Chain = context => this.#invoke(context)

  constructor(tools: ToolManager, options: ExecutorOptions = {}) {
    const { clock = systemClock } = options
    const timeoutMs = limitOf(options.timeoutMs) ?? DEFAULT_TIMEOUT_MS
    // A logger that fails, say on a full disk, must not turn a result into a failure.
    const logger = quietLogger(options.logger)
    this.tools = tools
    this.clock = clock
    this.#slowMs = limitOf(options.slowMs) ?? DEFAULT_SLOW_MS
    this.#maxTextBytes = limitOf(options.maxTextBytes) ?? DEFAULT_MAX_TEXT_BYTES
    this.#plans = new Plans(tools, logger)
    this.#services = {
      tools,
      clock,
      logger,
      timeoutMs,
      deadlines: deadlinesOf(clock),
      observers: new Observers(),
    }
  }

  /** Runs a call; never rejects. */
  run(call: ToolCall, options?: RunOptions): Promise<ToolResult>
  /** Runs a call of a tool object: its arguments and result are typed. */
  run<Args extends object, Result>(
    call: TypedCall<Args, Result>,
    options?: RunOptions,
  ): Promise<ToolResult<ValueOf<Result>>>
  run(call: ToolCall | TypedCall<object, unknown>, options?: RunOptions): Promise<ToolResult> {
    return this.#take(new CallContext(call, options, this.#services))
  }

  /** Runs a call for a model: resolves to the text for it, `Error: …` if the call failed. No repair; never rejects. */
  async execute(name: string, args?: unknown, options?: ExecuteOptions): Promise<string> {
    const { signal, timeoutMs } = options ?? {}
    return this.text(await this.run({ name, args }, { signal, timeoutMs }))
  }

  /** Takes a call through every stage except invoking the tool: says what the policy decides, or why it cannot run. */
  async dryRun(call: ToolCall, options?: RunOptions): Promise<DryRunResult> {
    const context = new CallContext(call, options, this.#services)
    const dryRun: DryRun = {}
    context.dryRun = dryRun
    const result = await this.#take(context)
    return { ...dryRun, tool: context.tool, failure: context.failure, result }
  }

  /** Wraps `interceptor` around every call from now on, inside those added before; returns a function that removes it. */
  use(interceptor: Interceptor): () => void {
    // A new function, because the same interceptor may be added twice.
    const own: Interceptor = (context, next) => interceptor(context, next)
    Object.defineProperty(own, 'name', { value: interceptor.name })
    const replace = (interceptors: readonly Interceptor[]) => {
      this.#interceptors = interceptors
      this.#chain = compose(interceptors, context => this.#invoke(context))
    }
    replace([...this.#interceptors, own])
    return () => replace(this.#interceptors.filter(one => one !== own))
  }

  /** Notifies `observer` when a call begins and when it ends; returns a function that removes it. */
  observe(observer: CallObserver, options?: ObserveOptions): () => void {
    return this.#services.observers.add(observer, options)
  }

  /** The text of a result for a model. */
  text(result: ToolResult): string {
    return modelText(result, this.#maxTextBytes)
  }

  /** How long a call may take: its caller's limit, else the tool's, else the executor's. */
  timeoutMsOf(name: string, options: Pick<RunOptions, 'timeoutMs'>): number {
    return timeLimit(options, this.tools.findTool(name), this.#services)
  }

  /** Find, fit, intercept, invoke, finish. */
  async #take(context: CallContext): Promise<ToolResult> {
    let result: ToolResult
    try {
      if (!context.dryRun) this.metrics.begin()
      if (!context.dryRun) this.#services.observers.begin(context)
      // Usually ready at once, and an await costs a tenth of a call.
      const preparing = this.#prepare(context)
      if (preparing) await preparing
      result = await this.#chain(context)
    } catch (error) {
      result = failureResult(unexpected(error), context)
    }
    return this.#finish(context, result)
  }

  /** Finds the tool and fits the arguments. A call that cannot run has a `failure` afterwards. */
  #prepare(context: CallContext): Promise<void> | undefined {
    const tool = context.tool ?? findTool(this.tools, context.name, context.options)
    if (tool instanceof Failure) return context.fail(tool)
    context.tool = tool
    context.mark('find')
    const plan = this.#plans.get(tool)
    return plan instanceof Promise ? plan.then(made => fit(context, made)) : fit(context, plan)
  }

  /** Runs the tool within its deadline. After a wait it must still be the tool that the interceptors saw. */
  #invoke(context: CallContext): Promise<ToolResult> {
    const startedAt = context.passInterceptors()
    const { plan, waitedMs } = context
    const changed = plan && waitedMs >= 1 ? redefined(plan.tool, context, this.tools) : undefined
    const failure = context.failure ?? changed
    if (failure || !plan) return Promise.resolve(failureResult(failure ?? unexpected('no tool'), context))
    if (context.dryRun) return Promise.resolve(resultOf({ value: undefined }, context))
    context.isInvoked = !context.isCancelled
    const limitMs = timeLimit(context.options, plan.tool, this.#services)
    return timeBox(context, limitMs, startedAt, plan.invoke, resultOf)
  }

  /** Completes, counts and logs the result: exactly once per call. */
  #finish(context: CallContext, answer: ToolResult): ToolResult {
    const { logger, observers } = this.#services
    context.close()
    const result = complete(answer, context)
    if (context.dryRun) return result
    this.metrics.end(context, result)
    if (logger !== silentLogger) quietly(() => logCall(context, result, this.#slowMs))
    observers.end(context, result)
    return result
  }
}
