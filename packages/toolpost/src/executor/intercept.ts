import type { ToolResult } from '../call/tool-result.ts'
import type { Clock } from '../runtime/clock.ts'
import { isRecord } from '../runtime/guards.ts'
import { describeThrown } from '../runtime/quietly.ts'
import type { Tool } from '../tools/tool.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import type { Attempt } from './attempt.ts'
import type { Failure } from './failure.ts'
import type { Ask } from './options.ts'
import { unwatch, watch } from './watched-signals.ts'

/**
 * Something that goes around every call. It may answer without `next()`, wait before it, or look at what came back;
 * `next()` resolves to the result, whatever happens, and can be called once.
 */
export type Interceptor = (call: InterceptedCall, next: Next) => Promise<ToolResult>

export type Next = () => Promise<ToolResult>

/** What the stages found out about a call. */
export interface InterceptedParts {
  readonly tool: Tool | undefined
  readonly args: unknown
  readonly failure?: Failure | undefined
}

/** A call as interceptors see it: found, fitted and validated, or with the reason why it cannot run. */
export class InterceptedCall implements InterceptedParts {
  /** Absent if none was found. */
  readonly tool: Tool | undefined
  /** Fitted and validated; as they were given if `failure` is set. Not to be changed. */
  readonly args: unknown
  /** Why the call cannot run: `next()` resolves to it. */
  readonly failure: Failure | undefined
  readonly #attempt: Attempt
  readonly #tools: ToolManager

  constructor(attempt: Attempt, { tool, args, failure }: InterceptedParts, tools: ToolManager) {
    this.tool = tool
    this.args = args
    this.failure = failure
    this.#attempt = attempt
    this.#tools = tools
  }

  /** The MCP server that the tool comes from. */
  get server(): string | undefined {
    return this.tool && this.#tools.originOf(this.tool)?.server
  }

  get id(): string | undefined {
    return this.#attempt.id
  }

  get name(): string {
    return this.#attempt.name
  }

  get origin(): string | undefined {
    return this.#attempt.options.origin
  }

  get caller(): string | undefined {
    return this.#attempt.options.caller
  }

  /** The caller's own. What waits must stop when it aborts. */
  get signal(): AbortSignal | undefined {
    return this.#attempt.options.signal
  }

  /** Asks the person who made the call, if there is one to ask. */
  get ask(): Ask | undefined {
    return this.#attempt.options.ask
  }

  /** What goes along to the tool (`_meta` of an MCP call): `traceparent` … May be added to. */
  get meta(): Record<string, unknown> {
    this.#attempt.meta ??= { ...this.#attempt.options.meta }
    return this.#attempt.meta
  }

  /** What interceptors write down about the call, for observers: the policy's rule, the approval, the trace. */
  get notes(): Record<string, unknown> {
    this.#attempt.notes ??= {}
    return this.#attempt.notes
  }
}

/** Intercept: what goes around every call, in the order in which it was added; the first is outermost. */
export class Interceptors {
  readonly #clock: Clock
  /** Replaced, never changed: a call keeps those that it began with. */
  #list: readonly Interceptor[] = []
  isEmpty = true

  constructor(clock: Clock) {
    this.#clock = clock
  }

  add(interceptor: Interceptor): () => void {
    this.#replace([...this.#list, interceptor])
    let isAdded = true
    return () => {
      // The same one may have been added twice.
      const at = isAdded ? this.#list.lastIndexOf(interceptor) : -1
      this.#replace(this.#list.filter((_, index) => index !== at))
      isAdded = false
    }
  }

  #replace(list: readonly Interceptor[]): void {
    this.#list = list
    this.isEmpty = list.length === 0
  }

  /** The answer; `undefined` as soon as the caller gives up while `goOn` is held back. Never rejects. */
  around(call: InterceptedCall, attempt: Attempt, goOn: Next): Promise<ToolResult | undefined> {
    const since = this.#clock.now()
    let isHeldBack = true
    const release = () => {
      if (isHeldBack) attempt.waitedMs = this.#clock.now() - since
      isHeldBack = false
    }
    const list = this.#list
    const from = (index: number): Promise<ToolResult> => {
      const interceptor = list[index]
      if (interceptor) return step(interceptor, call, () => from(index + 1))
      release()
      return goOn()
    }
    const { signal } = call
    return new Promise(resolve => {
      const end = (result: ToolResult | undefined) => {
        if (signal) unwatch(signal, caller)
        release()
        resolve(result)
      }
      const caller = { cancel: () => isHeldBack && end(undefined) }
      from(0).then(end)
      if (signal) watch(signal, caller)
    })
  }
}

function step(interceptor: Interceptor, call: InterceptedCall, goOn: Next): Promise<ToolResult> {
  let isCalled = false
  let isAnswered = false
  const next: Next = () => {
    // The answer was given: a tool that ran now would run unseen.
    if (isAnswered) return Promise.resolve(mistake(call, interceptor, 'next() was called after the answer'))
    if (isCalled) throw new Error('next() was called twice')
    isCalled = true
    return goOn()
  }
  const answer = (result: ToolResult): ToolResult => {
    isAnswered = true
    // A copy: the result may be another call's, and its getters may throw.
    if (isRecord(result) && typeof result.success === 'boolean') return { ...result }
    throw new Error('it gave no result')
  }
  const explain = (error: unknown): ToolResult => {
    isAnswered = true
    return mistake(call, interceptor, describeThrown(error))
  }
  try {
    const given: unknown = interceptor(call, next)
    // A promise stays itself: each one more costs a tenth of a call.
    const promise = given instanceof Promise ? given : Promise.resolve(given as ToolResult)
    return promise.then(answer).catch(explain)
  } catch (error) {
    return Promise.resolve(explain(error))
  }
}

function mistake(call: InterceptedCall, interceptor: Interceptor, problem: string): ToolResult {
  const name = interceptor.name === '' ? 'without a name' : `'${interceptor.name}'`
  return {
    success: false,
    code: 'tool_error',
    error: `The interceptor ${name} failed: ${problem}`,
    tool_name: call.name,
    execution_time_ms: 0,
  }
}
