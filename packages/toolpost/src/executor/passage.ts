import type { ToolResult } from '../call/tool-result.ts'
import type { Clock } from '../runtime/clock.ts'
import { isRecord } from '../runtime/guards.ts'
import { describeThrown } from '../runtime/quietly.ts'
import type { GoOn, InterceptedCall, Interceptor, Next } from './intercept.ts'
import { unwatch, watch } from './watched-signals.ts'

/** One call's way through the interceptors that were registered when it began. */
export class Passage {
  #waitedMs: number | undefined
  readonly #list: readonly Interceptor[]
  readonly #call: InterceptedCall
  readonly #goOn: GoOn
  readonly #clock: Clock
  readonly #since: number

  constructor(list: readonly Interceptor[], call: InterceptedCall, goOn: GoOn, clock: Clock) {
    this.#list = list
    this.#call = call
    this.#goOn = goOn
    this.#clock = clock
    this.#since = clock.now()
  }

  /** How long the call has been waiting, or did wait. */
  get waitedMs(): number {
    return this.#waitedMs ?? this.#clock.now() - this.#since
  }

  /** Resolves to the answer, or to `undefined` as soon as the caller gives up while the call is waiting. Never rejects. */
  answer(): Promise<ToolResult | undefined> {
    const call = this.#call
    const { callerSignal: signal } = call
    return new Promise(resolve => {
      const end = (result: ToolResult | undefined) => {
        if (signal) unwatch(signal, caller)
        resolve(result)
      }
      const caller = { cancel: () => void (this.#waitedMs === undefined && end(undefined)) }
      const canBeEnded = call.heldBy(caller)
      if (!signal && !canBeEnded) return resolve(this.#enter(0))
      this.#enter(0).then(end)
      if (signal) watch(signal, caller)
    })
  }

  /** The answer of the interceptors from `index` on, and finally the tool. */
  #enter(index: number): Promise<ToolResult> {
    const interceptor = this.#list[index]
    if (interceptor) return this.#step(interceptor, index)
    this.#waitedMs = this.waitedMs
    return this.#goOn(this.#waitedMs)
  }

  #step(interceptor: Interceptor, index: number): Promise<ToolResult> {
    let inner: Promise<ToolResult> | undefined
    let isAnswered = false
    const next: Next = () => {
      // Already answered: a tool that ran now would run unnoticed.
      if (isAnswered)
        return Promise.resolve(mistake(this.#call, interceptor, 'next() was called after the answer'))
      if (inner) throw new Error('next() was called twice')
      inner = this.#enter(index + 1)
      return inner
    }
    const explain = (error: unknown): ToolResult => {
      isAnswered = true
      return mistake(this.#call, interceptor, describeThrown(error))
    }
    const answer = (result: ToolResult): ToolResult => {
      isAnswered = true
      try {
        return ownResult(result)
      } catch (error) {
        return explain(error)
      }
    }
    try {
      const given: unknown = interceptor(this.#call, next)
      // The interceptor only passed the call on: nothing to check.
      if (given === inner && inner) return inner
      const promise = given instanceof Promise ? given : Promise.resolve(given as ToolResult)
      return promise.then(answer, explain)
    } catch (error) {
      return Promise.resolve(explain(error))
    }
  }
}

/** A copy of an interceptor's result: it may be that of another call, and its getters may throw. */
function ownResult(result: ToolResult): ToolResult {
  if (!isRecord(result) || typeof result.success !== 'boolean')
    throw new Error('it did not return a ToolResult')
  return { ...result }
}

function mistake(call: InterceptedCall, interceptor: Interceptor, problem: string): ToolResult {
  const subject = interceptor.name === '' ? 'An unnamed interceptor' : `The interceptor '${interceptor.name}'`
  return {
    success: false,
    code: 'tool_error',
    error: `${subject} failed: ${problem}`,
    tool_name: call.name,
    execution_time_ms: 0,
  }
}
