import type { ToolCall } from '../call/tool-call.ts'
import type { ToolResult } from '../call/tool-result.ts'
import { isThenable } from '../runtime/guards.ts'
import type { Attempt } from './attempt.ts'

/** A call as it begins, or as it ends with its result. */
export interface CallEvent {
  /** The same for the beginning and the end of a call, and for no other call of this executor. */
  serial: number
  call: ToolCall
  /** Where it came from: `http`, `mcp`, `chat` …, as the caller gave it. */
  origin: string | undefined
  /** Who asked, if that is known. */
  caller?: string | undefined
  /** When it began, in milliseconds since 1970. */
  startedAt: number
  /** What interceptors wrote down about it; there when it has ended. */
  notes?: Readonly<Record<string, unknown>> | undefined
  result?: ToolResult
}

export type CallObserver = (event: CallEvent) => void

/** Those who watch the calls of an executor. What they throw does not reach the calls. */
export class Observers {
  /** Replaced, never changed: one may leave while it is told. */
  #observers: readonly CallObserver[] = []
  #serial = 0
  /** Whether anybody ever did: while nobody watches, it costs nothing. */
  isWatching = false

  add(observer: CallObserver): () => void {
    const own: CallObserver = event => observer(event)
    this.isWatching = true
    this.#observers = [...this.#observers, own]
    return () => {
      this.#observers = this.#observers.filter(one => one !== own)
    }
  }

  /** The event of a beginning call; `undefined` if nobody watches any more. */
  begin({ id, name, args, options }: Attempt): CallEvent | undefined {
    if (this.#observers.length === 0) return undefined
    const { origin, caller } = options
    const call: ToolCall = { id, name, args }
    const event: CallEvent = { serial: ++this.#serial, call, origin, caller, startedAt: Date.now() }
    this.#tell(event)
    return event
  }

  /** By hand, without spreads and closures: with an observer this runs in every call, and took a quarter of it. */
  end(event: CallEvent, result: ToolResult, notes?: CallEvent['notes']): void {
    const { serial, call, origin, caller, startedAt } = event
    this.#tell({ serial, call, origin, caller, startedAt, notes, result })
  }

  #tell(event: CallEvent): void {
    for (const observer of this.#observers) {
      try {
        const returned: unknown = observer(event)
        if (returned !== undefined && isThenable(returned)) Promise.resolve(returned).catch(() => {})
      } catch {
        // The call goes on.
      }
    }
  }
}
