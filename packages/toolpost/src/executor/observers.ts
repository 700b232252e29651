import type { ToolCall } from '../call/tool-call.ts'
import type { ToolResult } from '../call/tool-result.ts'
import { isThenable } from '../runtime/guards.ts'
import { whenSettled } from '../runtime/when-settled.ts'
import type { Progress } from '../tools/tool.ts'
import { type Attempt, cancelAttempt } from './attempt.ts'

/** A call when it begins, or when it ends with its result. */
export interface CallEvent {
  /** The same at the beginning and the end of a call, and unique within this executor. */
  serial: number
  call: ToolCall
  /** Where it came from, as given by the caller: `http`, `mcp`, `chat` … */
  origin: string | undefined
  /** Who made the call, if known. */
  caller?: string | undefined
  /** When it began, in milliseconds since 1970. */
  startedAt: number
  /** What interceptors recorded about it; set when it has ended. */
  notes?: Readonly<Record<string, unknown>> | undefined
  result?: ToolResult
  /** When the tool was found and its arguments fitted, in milliseconds since the start; set when it has ended. */
  stages?: CallStages | undefined
  /** Cancels the call, as its caller could; set when it begins. */
  cancel?(): void
}

interface CallStages {
  foundMs: number
  fittedMs: number
}

export type CallObserver = (event: CallEvent) => void

export interface ObserveOptions {
  /** Receives the progress of calls already reported. Servers are asked for progress only if somebody listens. */
  onProgress?: ((serial: number, progress: Progress) => void) | undefined
}

/** A class, so that `cancel` costs no closure per call. */
class Beginning implements CallEvent {
  readonly serial: number
  readonly call: ToolCall
  readonly origin: string | undefined
  readonly caller: string | undefined
  readonly startedAt: number
  readonly #attempt: Attempt

  constructor(serial: number, attempt: Attempt) {
    const { id, name, args, options, beforeMs } = attempt
    this.serial = serial
    this.call = { id, name, args }
    this.origin = options.origin
    this.caller = options.caller
    this.startedAt = Date.now() - Math.round(beforeMs)
    this.#attempt = attempt
  }

  cancel(): void {
    cancelAttempt(this.#attempt)
  }
}

/** Observers of an executor's calls. Their errors never reach the calls. */
export class Observers {
  /** Replaced, never changed: an observer may unsubscribe while being notified. */
  #observers: readonly CallObserver[] = []
  #serial = 0
  /** Whether there has ever been an observer: without any, calls cost nothing extra. */
  isWatching = false
  #followers: readonly NonNullable<ObserveOptions['onProgress']>[] = []

  add(observer: CallObserver, { onProgress }: ObserveOptions = {}): () => void {
    const own: CallObserver = event => observer(event)
    const follower = onProgress && ((serial: number, progress: Progress) => onProgress(serial, progress))
    this.isWatching = true
    this.#observers = [...this.#observers, own]
    if (follower) this.#followers = [...this.#followers, follower]
    return () => {
      this.#observers = this.#observers.filter(one => one !== own)
      this.#followers = this.#followers.filter(one => one !== follower)
    }
  }

  /** Reports progress to the followers and the caller; to the caller alone if nobody follows. */
  progressOf({ event, options }: Attempt): ((progress: Progress) => void) | undefined {
    const followers = this.#followers
    if (!event || followers.length === 0) return options.onProgress
    return progress => {
      for (const follower of followers) follower(event.serial, progress)
      return options.onProgress?.(progress)
    }
  }

  /** The event of a starting call; `undefined` if no observer is left. */
  begin(attempt: Attempt): CallEvent | undefined {
    if (this.#observers.length === 0) return undefined
    const event = new Beginning(++this.#serial, attempt)
    this.#tell(event)
    return event
  }

  /** Written without spreads and closures: with an observer this runs on every call, and took a quarter of it. */
  end(event: CallEvent, result: ToolResult, { notes, foundMs, fittedMs }: Attempt): void {
    const { serial, call, origin, caller, startedAt } = event
    const stages = foundMs === undefined || fittedMs === undefined ? undefined : { foundMs, fittedMs }
    this.#tell({ serial, call, origin, caller, startedAt, notes, stages, result })
  }

  #tell(event: CallEvent): void {
    for (const observer of this.#observers) {
      try {
        const returned: unknown = observer(event)
        if (returned !== undefined && isThenable(returned)) whenSettled(returned, ignore, ignore)
      } catch {
        // The call goes on.
      }
    }
  }
}

function ignore(): void {}
