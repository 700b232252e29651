import type { ToolCall } from '../call/tool-call.ts'
import type { ToolResult } from '../call/tool-result.ts'
import type { Tool } from '../tools/tool.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import type { Clock } from '../util/clock.ts'
import { type Chain, compose, type Interceptor } from './chain.ts'
import { CallContext, type DryRun } from './context.ts'
import { cancelled, unexpected } from './failure.ts'
import { find, redefined } from './find.ts'
import { fit } from './fit.ts'
import { Metrics } from './metrics.ts'
import { modelText } from './model-text.ts'
import type { CallObserver, ObserveOptions } from './observers.ts'
import type { ExecuteOptions, ExecutorOptions, RunOptions, Services, TypedCall, ValueOf } from './options.ts'
import { servicesOf } from './options.ts'
import { failureResult, resultOf } from './result.ts'
import { timeLimit, unwatch } from './time-box.ts'

/** Runs tool calls. Every call gets exactly one ToolResult; nothing here rejects because of a call. */
export class ToolExecutor {
  readonly metrics = new Metrics()
  readonly tools: ToolManager
  readonly clock: Clock
  readonly #services: Services
  /** By keys of their own, because the same interceptor may be added twice. */
  readonly #interceptors = new Map<object, Interceptor>()
  /** Replaced, never changed: a call keeps the interceptors it started with. */
  #chain: Chain = context => this.#invoke(context)

  constructor(tools: ToolManager, options: ExecutorOptions = {}) {
    this.#services = servicesOf(tools, options)
    this.tools = tools
    this.clock = this.#services.clock
  }

  /** Runs a call; never rejects. */
  run(call: ToolCall, options?: RunOptions): Promise<ToolResult>
  /** Runs a call of a tool object: its arguments and result are typed. */
  run<Args extends object, Result>(
    call: TypedCall<Args, Result>,
    options?: RunOptions,
  ): Promise<ToolResult<ValueOf<Result>>>
  run(call: ToolCall | TypedCall<object, unknown>, options?: RunOptions): Promise<ToolResult> {
    return this.#take(new CallContext(call, this.#services, options))
  }

  /** Runs a call for a model: resolves to the text for it, `Error: …` if the call failed. No repair; never rejects. */
  async execute(name: string, args?: unknown, options?: ExecuteOptions): Promise<string> {
    const { signal, timeoutMs } = options ?? {}
    return this.text(await this.run({ name, args }, { signal, timeoutMs }))
  }

  /** Takes a call through every stage except invoking the tool: says what the policy decides, or why it cannot run. */
  async dryRun(call: ToolCall, options?: RunOptions) {
    const dryRun: DryRun = {}
    const context = Object.assign(new CallContext(call, this.#services, options), { dryRun })
    const result = await this.#take(context)
    return { ...dryRun, tool: context.tool, failure: context.failure, result }
  }

  /** Wraps `interceptor` around every call from now on, inside those added before; returns a function that removes it. */
  use(interceptor: Interceptor): () => void {
    const key = {}
    const replace = (change: () => unknown) => {
      change()
      this.#chain = compose([...this.#interceptors.values()], context => this.#invoke(context))
    }
    replace(() => this.#interceptors.set(key, interceptor))
    return () => replace(() => this.#interceptors.delete(key))
  }

  /** Notifies `observer` when a call begins and when it ends; returns a function that removes it. */
  observe(observer: CallObserver, options?: ObserveOptions): () => void {
    return this.#services.observers.add(observer, options)
  }

  /** The text of a result for a model. */
  text(result: ToolResult): string {
    return modelText(result, this.#services.maxTextBytes)
  }

  /** How long a call may take: its caller's limit, else the tool's, else the executor's. */
  timeoutMsOf(name: string, { timeoutMs }: Pick<RunOptions, 'timeoutMs'>): number {
    return timeLimit(timeoutMs, this.tools.findTool(name), this.#services.timeoutMs)
  }

  /** Find, fit, intercept, invoke, finish. */
  async #take(context: CallContext): Promise<ToolResult> {
    let result: ToolResult
    try {
      if (!context.dryRun) {
        this.metrics.begin()
        this.#services.observers.begin(context)
      }
      context.failure ??= find(context)
      context.mark('find')
      if (!context.failure) {
        const unfit = fit(context)
        // Usually ready at once, and an await costs a tenth of a call.
        context.failure = unfit && 'then' in unfit ? await unfit : unfit
        context.mark('fit')
      }
      result = await this.#chain(context)
      // Whatever interceptors say about a call that somebody cancelled while they held it back.
      const { isCancelled, isInvoked, failure, name } = context
      if (isCancelled && !isInvoked && !failure) result = failureResult(cancelled(name), context)
    } catch (error) {
      result = failureResult(unexpected(error), context)
    }
    return this.#finish(context, result)
  }

  /** Runs the tool within its deadline. After a wait it must still be the tool that the interceptors saw. */
  #invoke(context: CallContext): Promise<ToolResult> {
    context.leaveInterceptors()
    context.failure ??= context.waitedMs >= 1 ? redefined(context) : undefined
    if (context.failure) return Promise.resolve(failureResult(context.failure, context))
    if (context.dryRun) return Promise.resolve(resultOf(context, undefined))
    context.isInvoked = !context.isCancelled
    return context.runInTime(invokeTool, resultOf)
  }

  /** Completes, counts and logs the result: exactly once per call. */
  #finish(context: CallContext, answer: ToolResult): ToolResult {
    // An interceptor may have answered with the result of another call.
    const result = answer === context.result ? answer : { ...answer }
    if (context.enteredAt !== undefined) {
      context.leaveInterceptors()
      result.execution_time_ms = context.elapsedMs
    }
    const { id, repairs, waitedMs, options } = context
    if (id !== undefined) result.tool_call_id = id
    if (repairs) result.repairs = repairs
    if (waitedMs >= 1) result.waited_ms = Math.round(waitedMs)
    if (options.signal) unwatch(options.signal, context)
    if (context.dryRun) return result
    this.metrics.end(context, result)
    this.#services.log?.(context, result)
    if (context.event) this.#services.observers.end(context.event, context, result)
    return result
  }
}

function invokeTool(context: CallContext): unknown {
  const { tool, plan, toolArgs } = context as CallContext & { tool: Tool; toolArgs: object }
  // LangChain copies its options and would lose a getter: it gets a real signal.
  const options = plan?.isLangChain ? { signal: context.signal } : context
  return tool.invoke(tool.inputEnvelope ? { input: toolArgs } : toolArgs, options)
}
