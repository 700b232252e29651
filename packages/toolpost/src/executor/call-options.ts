import { quietly } from '../runtime/quietly.ts'
import type { Ask, Caller } from '../tools/caller.ts'
import type { InvokeOptions, Progress } from '../tools/tool.ts'
import type { RunningCall } from './time-box.ts'

/**
 * The options passed to a tool. `signal` is a getter on the prototype: it costs nothing until it is read.
 * LangChain copies its options and would lose it, so its tools get a plain object with a real signal.
 */
export class CallOptions implements InvokeOptions {
  readonly #call: RunningCall

  constructor(call: RunningCall) {
    this.#call = call
  }

  get signal(): AbortSignal {
    return this.#call.signal
  }

  get callId(): string | undefined {
    return this.#call.limits.attempt.id
  }

  get caller(): string | undefined {
    return this.#call.limits.caller
  }

  get origin(): string | undefined {
    return this.#call.limits.options.origin
  }

  get meta(): Readonly<Record<string, unknown>> | undefined {
    return this.#call.limits.meta
  }

  get wantsProgress(): boolean {
    const { onProgress, maxTimeoutMs } = this.#call.limits
    return onProgress !== undefined || maxTimeoutMs !== undefined
  }

  get onRequest(): InvokeOptions['onRequest'] {
    return this.#guarded('onRequest', this.#call.limits.attempt.onRequest)
  }

  onAbort(listener: () => void): void {
    this.#call.onAbort(listener)
  }

  reportProgress(progress: Progress): void {
    this.#call.progress(progress)
  }

  get peer(): unknown {
    const { options, caller } = this.#call.limits
    return options.peer ?? options.ask ?? caller
  }

  /** Waiting inside it does not count as the tool's time. */
  hold<T>(wait: () => Promise<T>): Promise<T> {
    return this.#call.asking(wait)
  }

  get ask(): Ask | undefined {
    const { ask } = this.#call.limits.options
    if (!ask) return undefined
    return async question => {
      // The answer is no longer needed.
      if (this.#call.hasEnded) return { action: 'cancel' }
      return this.hold(() => ask({ ...question, signal: this.#until(question.signal) }))
    }
  }

  get sample(): Caller['sample'] {
    const { sample } = this.#call.limits.options
    if (!sample) return undefined
    return (params, options) =>
      this.hold(() => sample(params, { ...options, signal: this.#until(options.signal) }))
  }

  get roots(): Caller['roots'] {
    return this.#call.limits.options.roots
  }

  get onTask(): Caller['onTask'] {
    return this.#guarded('onTask', this.#call.limits.options.onTask)
  }

  get onLog(): Caller['onLog'] {
    return this.#guarded('onLog', this.#call.limits.options.onLog)
  }

  get onAddresses(): Caller['onAddresses'] {
    return this.#call.limits.options.onAddresses
  }

  /** The callback, with its errors logged instead of thrown into the tool. */
  #guarded<Args extends unknown[]>(name: string, callback: ((...args: Args) => void) | undefined) {
    if (!callback) return undefined
    const onError = (error: unknown) => this.#call.limits.warn(`${name} failed`, error)
    return (...args: Args) => quietly(() => callback(...args), onError)
  }

  /** Aborts with the call and with the question. */
  #until(signal: AbortSignal | undefined): AbortSignal {
    return signal ? AbortSignal.any([this.#call.signal, signal]) : this.#call.signal
  }
}
