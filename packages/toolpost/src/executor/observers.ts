import { callSerial } from '../call/call-serial.ts'
import type { ToolCall } from '../call/tool-call.ts'
import type { ToolResult } from '../call/tool-result.ts'
import type { Progress } from '../tools/tool.ts'
import { quietly } from '../util/quietly.ts'
import type { CallContext } from './context.ts'

/** A call when it begins, or when it ends with its result. */
export interface CallEvent {
  /** A UUIDv7: the same at the beginning and the end of a call, unique across processes, sorts by time. */
  serial: string
  call: ToolCall
  /** Where it came from, as given by the caller: `http`, `mcp`, `chat` … */
  origin: string | undefined
  caller?: string | undefined
  /** When it began, in milliseconds since 1970. */
  startedAt: number
  /** Where its time went so far: finding the tool, fitting the arguments, interceptors that waited, invoking the tool. */
  stages?: { name: string; start_ms: number; duration_ms: number }[] | undefined
  /** When it has ended: what interceptors recorded about it, its result, and the MCP server of its tool, if it has one. */
  notes?: Readonly<Record<string, unknown>> | undefined
  result?: ToolResult
  server?: string | undefined
  /** Cancels the call, as its caller could; set when it begins. */
  cancel?(): void
}

export type CallObserver = (event: CallEvent) => void

/** `onProgress` receives the progress of calls already reported. */
export type ObserveOptions = { onProgress?: (serial: string, progress: Progress) => void }

/** Observers of an executor's calls. Their errors never reach the calls. */
export class Observers {
  /** Replaced, never changed: an observer may unsubscribe while being notified. */
  #entries: readonly (ObserveOptions & { observer: CallObserver })[] = []

  add(observer: CallObserver, options: ObserveOptions = {}): () => void {
    const entry = { observer, ...options }
    this.#entries = [...this.#entries, entry]
    return () => {
      this.#entries = this.#entries.filter(one => one !== entry)
    }
  }

  get wantProgress(): boolean {
    return this.#entries.some(({ onProgress }) => onProgress)
  }

  begin(context: CallContext): void {
    if (this.#entries.length === 0) return
    const { id, name, given: args, origin, caller } = context
    const startedAt = Date.now()
    const call = { id, name, args }
    const cancel = () => context.cancel()
    context.event = { serial: callSerial(startedAt), call, origin, caller, startedAt, stages: [], cancel }
    this.#tell(context.event)
  }

  progress(serial: string, progress: Progress): void {
    for (const { onProgress } of this.#entries) quietly(() => onProgress?.(serial, progress))
  }

  end(event: CallEvent, { noted: notes, server }: CallContext, result: ToolResult): void {
    const { serial, call, origin, caller, startedAt, stages } = event
    this.#tell({ serial, call, origin, caller, startedAt, stages, notes, result, server })
  }

  #tell(event: CallEvent): void {
    for (const { observer } of this.#entries) quietly(() => observer(event))
  }
}
