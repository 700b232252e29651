import type { ToolCall } from '../call/tool-call.ts'
import type { ToolResult } from '../call/tool-result.ts'
import { type Logger, silentLogger } from '../logging/logger.ts'
import { quietLogger } from '../logging/quiet-logger.ts'
import { type Clock, systemClock } from '../runtime/clock.ts'
import { describeThrown, quietly } from '../runtime/quietly.ts'
import type { Tool } from '../tools/tool.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import { type Attempt, attemptOf } from './attempt.ts'
import { logCall, logMishap, logSlow } from './call-log.ts'
import { type Deadlines, deadlinesOf, limitOf } from './deadlines.ts'
import { Failure, toolError } from './failure.ts'
import { findTool } from './find-tool.ts'
import { type Fitted, fitArguments, type LateFitting } from './fit-arguments.ts'
import { Metrics, type ToolFigures } from './metrics.ts'
import { modelText } from './model-text.ts'
import { type CallObserver, Observers } from './observers.ts'
import {
  DEFAULT_MAX_TEXT_BYTES,
  DEFAULT_SLOW_MS,
  DEFAULT_TIMEOUT_MS,
  type ExecutorOptions,
  type RunOptions,
  type TypedCall,
  type ValueOf,
} from './options.ts'
import { type Plan, planFor } from './plan.ts'
import { shapeFailure, shapeResult } from './shape-result.ts'
import { CallOptions, type Ending, type Limits, RunningCall, timeBox } from './time-box.ts'
import { argumentsFromText } from './validate-arguments.ts'

interface Prepared {
  readonly plan: Plan | Failure
  readonly figures: ToolFigures
}

/**
 * The one way of a tool call: find, fit, validate, time-box, shape.
 * Every call gets exactly one ToolResult; nothing here throws or rejects because of a call.
 */
export class ToolExecutor {
  readonly metrics = new Metrics()
  readonly #tools: ToolManager
  readonly #timeoutMs: number
  readonly #slowMs: number
  readonly #maxTextBytes: number
  readonly #logger: Logger
  readonly #clock: Clock
  readonly #deadlines: Deadlines
  readonly #observers = new Observers()
  #isObserved = false
  readonly #prepared = new WeakMap<Tool, Prepared>()
  readonly #preparing = new WeakMap<Tool, Promise<Prepared>>()

  constructor(tools: ToolManager, options: ExecutorOptions = {}) {
    this.#tools = tools
    this.#timeoutMs = limitOf(options.timeoutMs) ?? DEFAULT_TIMEOUT_MS
    this.#slowMs = limitOf(options.slowMs) ?? DEFAULT_SLOW_MS
    this.#maxTextBytes = limitOf(options.maxTextBytes) ?? DEFAULT_MAX_TEXT_BYTES
    // A logger that fails, on a full disk for instance, must not turn an answer into a failure.
    this.#logger = quietLogger(options.logger ?? silentLogger)
    this.#clock = options.clock ?? systemClock
    this.#deadlines = deadlinesOf(this.#clock)
  }

  /** The tools that calls are found among. */
  get tools(): ToolManager {
    return this.#tools
  }

  /** Runs a call of a tool at hand: its arguments and its result are typed. */
  run<Args extends object, Result>(
    call: TypedCall<Args, Result>,
    options?: RunOptions,
  ): Promise<ToolResult<ValueOf<Result>>>
  /**
   * Runs a call. Resolves to its result, whatever happens; never rejects.
   * Not an async function: each promise on the way of a call costs a tenth of it.
   */
  run(call: ToolCall, options?: RunOptions): Promise<ToolResult>
  run(call: ToolCall | TypedCall<object, unknown>, options?: RunOptions): Promise<ToolResult> {
    this.metrics.begin()
    const attempt = attemptOf(call, options, this.#clock.now())
    try {
      const { name, args } = attempt
      if (this.#isObserved) attempt.event = this.#observers.begin(attempt)
      const tool = findTool(this.#tools, name, attempt.options.among)
      if (tool instanceof Failure) return Promise.resolve(this.#fail(attempt, tool))
      const prepared = this.#prepared.get(tool)
      if (!prepared || typeof args === 'string') return this.#prepareAndProceed(attempt, tool)
      return this.#proceed(attempt, prepared, args ?? {})
    } catch (error) {
      return Promise.resolve(this.#failUnexpectedly(attempt, error))
    }
  }

  /** Runs a call for a model: resolves to the text it reads, `Error: …` if it failed. No repair; never rejects. */
  async execute(
    name: string,
    args?: unknown,
    options: Pick<RunOptions, 'signal' | 'timeoutMs'> = {},
  ): Promise<string> {
    const { signal, timeoutMs } = options ?? {}
    return this.text(await this.run({ name, args }, { signal, timeoutMs }))
  }

  /** What a model reads of a result. */
  text(result: ToolResult): string {
    return modelText(result, this.#maxTextBytes)
  }

  /** Tells `observer` of every call as it begins and as it ends; returns a function that stops it. */
  observe(observer: CallObserver): () => void {
    this.#isObserved = true
    return this.#observers.add(observer)
  }

  /** The first call of a tool, which has to be read, and calls whose arguments came as text. */
  async #prepareAndProceed(attempt: Attempt, tool: Tool): Promise<ToolResult> {
    const { args, options } = attempt
    try {
      const prepared = this.#prepared.get(tool) ?? (await this.#prepareOnce(tool))
      const given = typeof args === 'string' ? await this.#read(attempt, args, options) : args
      return await this.#proceed(attempt, prepared, given ?? {})
    } catch (error) {
      return this.#failUnexpectedly(attempt, error)
    }
  }

  /** Arguments that came as text: read if repairs are asked for, else refused as what they are. */
  async #read(attempt: Attempt, text: string, { repair }: RunOptions): Promise<unknown> {
    const read = repair ? await argumentsFromText(text) : undefined
    if (read) attempt.repairs = ['arguments: text → object']
    return read ?? text
  }

  /** Calls that come while a tool is being read wait for the same reading. */
  #prepareOnce(tool: Tool): Promise<Prepared> {
    const preparing = this.#preparing.get(tool) ?? this.#prepare(tool)
    this.#preparing.set(tool, preparing)
    return preparing
  }

  async #prepare(tool: Tool): Promise<Prepared> {
    const plan = await planFor(tool, this.#tools, this.#logger)
    const prepared = { plan, figures: this.metrics.of(tool.name) }
    this.#prepared.set(tool, prepared)
    return prepared
  }

  /** Fits and validates the arguments, runs the tool in its time, and answers. */
  #proceed(attempt: Attempt, { plan, figures }: Prepared, given: unknown): Promise<ToolResult> {
    attempt.figures = figures
    if (plan instanceof Failure) return Promise.resolve(this.#fail(attempt, plan))
    const fitted = fitArguments(plan, given, attempt.options.repair === true)
    return typeof fitted === 'function'
      ? this.#whenFitted(attempt, plan, fitted)
      : this.#invoke(attempt, plan, fitted)
  }

  /** Fitting that takes its time is part of the call: it has the same deadline and the same caller. */
  #whenFitted(attempt: Attempt, plan: Plan, fit: LateFitting): Promise<ToolResult> {
    return new Promise(resolve => {
      const end = (ending: Ending) =>
        resolve(
          ending.kind === 'value'
            ? this.#invoke(attempt, plan, ending.value as Fitted | Failure)
            : this.#answer(attempt, plan, ending),
        )
      const call = new RunningCall(this.#limits(attempt, plan.tool), this.#deadlines, end)
      call.waitFor(fit(new CallOptions(call)))
      if (attempt.options.signal?.aborted) call.cancel()
    })
  }

  #invoke(attempt: Attempt, plan: Plan, fitted: Fitted | Failure): Promise<ToolResult> {
    if (fitted instanceof Failure) return Promise.resolve(this.#fail(attempt, fitted))
    const { args, repairs } = fitted
    if (repairs || attempt.repairs)
      this.#noteRepairs(attempt, [...(attempt.repairs ?? []), ...(repairs ?? [])])
    const limits = this.#limits(attempt, plan.tool)
    return new Promise(resolve => {
      const end = (ending: Ending) => resolve(this.#answer(attempt, plan, ending))
      timeBox(plan, args, new RunningCall(limits, this.#deadlines, end))
    })
  }

  #noteRepairs(attempt: Attempt, repairs: string[]): void {
    attempt.repairs = repairs
    if (attempt.figures) attempt.figures.repairs += repairs.length
    this.#logger.info({ tool: attempt.name, call_id: attempt.id, repairs }, 'Arguments repaired')
  }

  #limits({ id, name, options, startedAt }: Attempt, { timeoutMs, maxTimeoutMs }: Tool): Limits {
    const limitMs = limitOf(options.timeoutMs) ?? limitOf(timeoutMs) ?? this.#timeoutMs
    return {
      startedAt,
      timeoutMs: maxTimeoutMs === undefined ? limitMs : Math.min(limitMs, limitOf(maxTimeoutMs) ?? limitMs),
      maxTimeoutMs,
      signal: options.signal,
      callId: id,
      caller: options.caller ?? options.origin,
      onProgress: options.onProgress,
      warn: (message, error) => logMishap(this.#logger, { id, name, error }, message),
    }
  }

  #answer(attempt: Attempt, plan: Plan, ending: Ending): ToolResult {
    try {
      return this.#finish(attempt, shapeResult(ending, plan, attempt, this.#elapsedMs(attempt)))
    } catch (error) {
      return this.#failUnexpectedly(attempt, error)
    }
  }

  #fail(attempt: Attempt, failure: Failure): ToolResult {
    return this.#finish(attempt, shapeFailure(failure, attempt, this.#elapsedMs(attempt)))
  }

  /** For values that throw when they are looked at. */
  #failUnexpectedly(attempt: Attempt, error: unknown): ToolResult {
    return this.#fail(attempt, toolError(`The call could not be carried out: ${describeThrown(error)}`))
  }

  #elapsedMs({ startedAt }: Attempt): number {
    return Math.round((this.#clock.now() - startedAt) * 1_000) / 1_000
  }

  /** Last stage: the result is completed, counted and logged. */
  #finish(attempt: Attempt, result: ToolResult): ToolResult {
    const { id, event, figures, repairs } = attempt
    if (id !== undefined) result.tool_call_id = id
    if (repairs) result.repairs = repairs
    const { execution_time_ms } = result
    this.metrics.end(figures, execution_time_ms, result.success ? undefined : result.code)
    if (this.#logger !== silentLogger) quietly(() => this.#log(attempt, result))
    if (event) this.#observers.end(event, result)
    return result
  }

  #log(attempt: Attempt, result: ToolResult): void {
    const { name, options } = attempt
    if (result.execution_time_ms > this.#slowMs) logSlow(this.#logger, name, result.execution_time_ms)
    logCall(this.#logger, attempt, result, options.among ?? this.#tools.getTools())
  }
}
