import type { ToolCall } from '../call/tool-call.ts'
import type { ToolResult } from '../call/tool-result.ts'
import { silentLogger } from '../logging/logger.ts'
import { quietLogger } from '../logging/quiet-logger.ts'
import { type Clock, systemClock } from '../runtime/clock.ts'
import { quietly } from '../runtime/quietly.ts'
import type { Tool } from '../tools/tool.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import { type Chain, compose, type Interceptor } from './chain.ts'
import { CallContext, type DryRun, type Services } from './context.ts'
import { deadlinesOf } from './deadlines.ts'
import { cancelled, Failure } from './failure.ts'
import { findTool } from './find.ts'
import { fit } from './fit.ts'
import { logCall } from './log.ts'
import { Metrics } from './metrics.ts'
import { modelText } from './model-text.ts'
import { type CallObserver, type ObserveOptions, Observers } from './observers.ts'
import type { ExecuteOptions, ExecutorOptions, RunOptions, TypedCall, ValueOf } from './options.ts'
import * as defaults from './options.ts'
import { type Plan, Plans, redefined } from './plan.ts'
import { complete, failureResult, resultOf, unexpected } from './result.ts'
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
  readonly #services: Services
  readonly #plans: Plans
  /** Replaced, never changed: a call keeps the interceptors it started with. */
  #interceptors: readonly Interceptor[] = []
  #chain: Chain = context => this.#invoke(context)

  constructor(tools: ToolManager, options: ExecutorOptions = {}) {
    const { clock = systemClock } = options
    // A logger that fails, say on a full disk, must not turn a result into a failure.
    const logger = quietLogger(options.logger)
    this.tools = tools
    this.clock = clock
    this.#timeoutMs = limitOf(options.timeoutMs) ?? defaults.DEFAULT_TIMEOUT_MS
    this.#slowMs = limitOf(options.slowMs) ?? defaults.DEFAULT_SLOW_MS
    this.#maxTextBytes = limitOf(options.maxTextBytes) ?? defaults.DEFAULT_MAX_TEXT_BYTES
    this.#plans = new Plans(tools, logger)
    this.#services = { tools, clock, logger, deadlines: deadlinesOf(clock), observers: new Observers() }
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
    this.#compose([...this.#interceptors, own])
    return () => this.#compose(this.#interceptors.filter(one => one !== own))
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
    return timeLimit(options, this.tools.findTool(name) ?? {}, this.#timeoutMs)
  }

  #compose(interceptors: readonly Interceptor[]): void {
    this.#interceptors = interceptors
    const invoke: Chain = context => this.#invoke(context)
    const chain = compose(interceptors, invoke)
    this.#chain = interceptors.length === 0 ? invoke : context => this.#intercept(context, chain)
  }

  /** Find, fit, intercept, invoke, finish. */
  async #take(context: CallContext): Promise<ToolResult> {
    let result: ToolResult
    try {
      if (!context.dryRun) this.#begin(context)
      // Usually ready at once: each await costs a tenth of a call.
      const preparing = this.#prepare(context)
      if (preparing) await preparing
      result = await this.#chain(context)
    } catch (error) {
      result = failureResult(unexpected(error), context)
    }
    return this.#finish(context, result)
  }

  #begin(context: CallContext): void {
    this.metrics.begin()
    this.#services.observers.begin(context)
  }

  /** Finds the tool and fits the arguments; a call that cannot run has a `failure` afterwards. */
  #prepare(context: CallContext): Promise<void> | undefined {
    const tool = context.tool ?? findTool(this.tools, context.name, context.options)
    if (tool instanceof Failure) {
      context.failure = tool
      return undefined
    }
    context.tool = tool
    context.mark('find')
    const plan = this.#plans.get(tool)
    if (plan instanceof Promise) return plan.then(made => this.#fit(context, made))
    return this.#fit(context, plan)
  }

  #fit(context: CallContext, plan: Plan | Failure): Promise<void> | undefined {
    if (!(plan instanceof Failure)) context.plan = plan
    const unfit =
      plan instanceof Failure
        ? plan
        : fit(context, plan, timeLimit(context.options, plan.tool, this.#timeoutMs))
    const take = (failure: Failure | undefined) => {
      context.failure = failure
      context.mark('fit')
    }
    return unfit instanceof Promise ? unfit.then(take) : void take(unfit)
  }

  /** Runs the interceptors around the tool. A caller who gives up while they wait is answered at once. */
  #intercept(context: CallContext, chain: Chain): Promise<ToolResult> {
    context.enteredAt = this.clock.now()
    const answer = chain(context)
    if (!context.options.signal && context.serial === undefined) return answer
    return new Promise(resolve => {
      context.onCancel = () => resolve(failureResult(cancelled(context.name), context))
      if (context.isCancelled && !context.isInvoked) context.onCancel()
      void answer.then(resolve)
    })
  }

  /** Runs the tool within its deadline. After a wait it must still be the tool that the interceptors saw. */
  #invoke(context: CallContext): Promise<ToolResult> {
    const startedAt = context.passInterceptors()
    const { failure, plan } = context
    if (failure || !plan) return Promise.resolve(failureResult(failure ?? unexpected('no tool'), context))
    const changed = context.waitedMs >= 1 ? redefined(plan.tool, context, this.tools) : undefined
    if (changed) return Promise.resolve(failureResult(changed, context))
    if (context.dryRun) return Promise.resolve(resultOf({ value: undefined }, context))
    context.isInvoked = !context.isCancelled
    const limitMs = timeLimit(context.options, plan.tool, this.#timeoutMs)
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
