import type { ToolCall } from '../call/tool-call.ts'
import type { ToolResult } from '../call/tool-result.ts'

/** A call as it begins, or as it ends with its result. */
export interface CallEvent {
  /** The same for the beginning and the end of a call, and for no other call of this executor. */
  serial: number
  call: ToolCall
  /** Who asked: `http`, `mcp`, `chat` …, as the caller gave it. */
  origin: string | undefined
  /** When it began, in milliseconds since 1970. */
  startedAt: number
  result?: ToolResult
}

export type CallObserver = (event: CallEvent) => void

/** Those who watch the calls of an executor. What they throw does not reach the calls. */
export class Observers {
  readonly #observers = new Set<CallObserver>()
  #serial = 0

  add(observer: CallObserver): () => void {
    this.#observers.add(observer)
    return () => void this.#observers.delete(observer)
  }

  /** The event of a beginning call; `undefined` while nobody watches, which costs nothing. */
  begin(call: ToolCall, origin: string | undefined): CallEvent | undefined {
    if (this.#observers.size === 0) return undefined
    const event: CallEvent = { serial: ++this.#serial, call, origin, startedAt: Date.now() }
    this.#tell(event)
    return event
  }

  end(event: CallEvent, result: ToolResult): void {
    this.#tell({ ...event, result })
  }

  #tell(event: CallEvent): void {
    for (const observer of this.#observers) {
      try {
        observer(event)
      } catch {
        // The observer's own mistake; the call goes on.
      }
    }
  }
}
