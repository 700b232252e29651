import type { ToolResult } from '../call/tool-result.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Ask } from '../tools/caller.ts'
import type { Progress, ServerRequest, Tool } from '../tools/tool.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import type { Attempt } from './attempt.ts'
import type { Failure } from './failure.ts'
import type { Asks, Foreseen, Foresight } from './foresee.ts'
import { Passage } from './passage.ts'

/**
 * Wraps every call. It may answer without `next()`, wait before it, or inspect the result; `next()` resolves to the
 * result, whatever happens, and can be called once.
 */
export interface Interceptor {
  (call: InterceptedCall, next: Next): Promise<ToolResult>
  /** Its verdict on a call without running it; for interceptors that decide about calls. */
  foresee?: ((call: InterceptedCall) => Promise<Foresight>) | undefined
}

export type Next = () => Promise<ToolResult>

/** Continues after the interceptors; receives how long they delayed the call. */
export type GoOn = (waitedMs: number) => Promise<ToolResult>

/** What the earlier stages found out about a call. */
export interface InterceptedParts {
  readonly tool: Tool | undefined
  readonly args: unknown
  readonly failure?: Failure | undefined
}

/** A call as interceptors see it: found, fitted and validated, or with the reason why it cannot run. */
export class InterceptedCall implements InterceptedParts {
  /** `undefined` if none was found. */
  readonly tool: Tool | undefined
  /** Fitted and validated; as given if `failure` is set. Do not change them. */
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

  /** The conversation it belongs to, if any. */
  get conversation(): string | undefined {
    return this.#attempt.options.conversation
  }

  /** Receives the tool's progress. */
  get onProgress(): ((progress: Progress) => void) | undefined {
    return this.#attempt.options.onProgress
  }

  /** The caller's own limit, if it set one. */
  get timeoutMs(): number | undefined {
    return this.#attempt.options.timeoutMs
  }

  /** Aborts when the caller gives up, or someone else cancels the call. Waiting interceptors must stop then. */
  get signal(): AbortSignal | undefined {
    const attempt = this.#attempt
    const { signal } = attempt.options
    if (!attempt.event) return signal
    attempt.ended ??= new AbortController()
    attempt.signal ??= signal ? AbortSignal.any([signal, attempt.ended.signal]) : attempt.ended.signal
    if (attempt.isCancelled) attempt.ended.abort()
    return attempt.signal
  }

  /** The caller's own signal; unlike `signal`, never created on demand. */
  get callerSignal(): AbortSignal | undefined {
    return this.#attempt.options.signal
  }

  /** Sets what to cancel while the call is waiting; `false` if only its caller could cancel it. */
  heldBy(stage: { cancel(): void }): boolean {
    if (!this.#attempt.event) return false
    this.#attempt.running = stage
    return true
  }

  /** Asks the person behind the call, if there is one. */
  get ask(): Ask | undefined {
    return this.#attempt.options.ask
  }

  /** Metadata passed on to the tool (`_meta` of an MCP call): `traceparent` … May be added to. */
  get meta(): Record<string, unknown> {
    this.#attempt.meta ??= { ...this.#attempt.options.meta }
    return this.#attempt.meta
  }

  /** Called with the request to the tool's server, if it has one. */
  set onRequest(listener: (request: ServerRequest) => void) {
    this.#attempt.onRequest = listener
  }

  /** What interceptors record about the call, for observers: the policy's rule, the approval, the trace. */
  get notes(): Record<string, unknown> {
    this.#attempt.notes ??= {}
    return this.#attempt.notes
  }
}

/** Intercept: wraps every call, in the order the interceptors were added; the first is outermost. */
export class Interceptors {
  readonly #clock: Clock
  /** Replaced, never changed: a call keeps those it started with. */
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

  /** Their strictest verdict on a call in advance; none if no interceptor decides about calls. */
  async foresee(call: InterceptedCall): Promise<Pick<Foreseen, 'verdict' | 'asks'>> {
    const said = await Promise.all(this.#list.map(interceptor => interceptor.foresee?.(call)))
    if (said.includes('deny')) return { verdict: 'deny' }
    const asking = said.find(each => each === 'ask' || typeof each === 'object')
    if (asking) return { verdict: 'ask', asks: asking === 'ask' ? {} : (asking as { asks: Asks }).asks }
    return { verdict: said.find(each => each === 'allow') as 'allow' | undefined }
  }

  /** One call's passage through them to `goOn`. */
  around(call: InterceptedCall, goOn: GoOn): Passage {
    return new Passage(this.#list, call, goOn, this.#clock)
  }
}
