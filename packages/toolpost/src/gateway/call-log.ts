import type { ToolResult } from '../call/tool-result.ts'
import type { CallEvent } from '../executor/observers.ts'
import { DEFAULT_SLOW_MS } from '../executor/options.ts'
import { History } from '../history/history.ts'
import { type StoredCall, storedCall } from '../history/stored-call.ts'
import { plainCopy } from '../logging/plain-value.ts'
import { cleaner } from '../logging/safe-value.ts'
import type { Run } from '../project/durable.ts'
import type { Progress } from '../tools/tool.ts'
import type { CallRecord, GatewayEvents } from './api-types.ts'
import type { GatewaySource } from './context.ts'
import { MAX_MEMORY_MB, PROGRESS_TOLD_MS, RECENT_CALLS, RECORDED_BYTES, SHORTENED_MS } from './limits.ts'

const UNFINISHED: ToolResult = { success: true, result: undefined, tool_name: '', execution_time_ms: 0 }

/** The running calls, and the ended ones: in the configured history, or else the last ones in memory. */
export class CallLog {
  readonly #source: GatewaySource
  readonly #slowMs: number
  /** Oldest first. A list, because the garbage of a map's entries that come and go costs more than finding one of a few. */
  readonly #running: { event: CallEvent; progress?: Progress; toldAt: number }[] = []
  /** Without a history: the last calls, until somebody looks. Large values are left out a moment later. */
  #unseen: CallEvent[] = []
  #timer: NodeJS.Timeout | undefined
  #memory: History | undefined

  constructor(source: GatewaySource, slowMs = DEFAULT_SLOW_MS) {
    this.#source = source
    this.#slowMs = slowMs
  }

  /** The running calls, oldest first. */
  running(): CallRecord[] {
    return this.#running.map(({ event, progress }) => this.record(event, progress))
  }

  /** The record of a call that runs or has ended just now. */
  record(event: CallEvent, progress?: Progress): CallRecord {
    if (event.result) return this.recordOf(this.#stored(event))
    const record = this.recordOf(this.#stored({ ...event, result: UNFINISHED }))
    return { ...record, ...({ result: undefined, durationMs: undefined, progress } as object) }
  }

  /** The configured history; else one in memory, which begins with the last calls. */
  history(): History {
    const configured = this.#source.history?.()
    if (configured || this.#memory) return (configured ?? this.#memory) as History
    const { executor } = this.#source
    this.#memory = new History({ file: ':memory:', maxMb: MAX_MEMORY_MB })
    const observe = (observer: (event: CallEvent) => void) => {
      this.#unseen.splice(0).forEach(observer)
      return executor.observe(observer)
    }
    this.#memory.observe({ tools: executor.tools, observe })
    return this.#memory
  }

  async close(): Promise<void> {
    await this.#memory?.close()
  }

  /** The running call with this serial, and how to cancel it. */
  find(serial: string): { call: CallRecord; cancel(): void } | undefined {
    const { event, progress } = this.#running[this.#indexOf(serial)] ?? {}
    return event && { call: this.record(event, progress), cancel: () => event.cancel?.() }
  }

  /** Records the start or end of a call. */
  note(event: CallEvent): void {
    if (!event.result) return void this.#running.push({ event, toldAt: 0 })
    const at = this.#indexOf(event.serial)
    if (at >= 0) this.#running.splice(at, 1)
    if (this.#memory || this.#source.history?.()) return
    if (this.#unseen.push(event) > 2 * RECENT_CALLS) this.#unseen.splice(0, RECENT_CALLS)
    this.#timer ??= setTimeout(() => this.#shorten(), SHORTENED_MS).unref()
  }

  #shorten(): void {
    this.#timer = undefined
    this.#unseen = this.#unseen.slice(-RECENT_CALLS).map(event => eventOf(this.#stored(event)))
  }

  /** Records the progress of a call; returns what to tell of it, which is not too often. */
  noteProgress(serial: string, progress: Progress): GatewayEvents['progress'] | undefined {
    const call = this.#running[this.#indexOf(serial)]
    const now = performance.now()
    if (!call) return undefined
    call.progress = progress
    if (call.toldAt > 0 && now - call.toldAt < PROGRESS_TOLD_MS) return undefined
    call.toldAt = now
    const { caller } = call.event
    return { serial, ...progress, ...(caller !== undefined && { caller }) }
  }

  /** A call as the API shows it: whether it was slow, what was noted about it, and where to see its trace. */
  recordOf(call: StoredCall): CallRecord {
    const { rule, approval, traceId, result, durationMs } = call
    const { url } = this.#source.config?.trace || {}
    const isTrace = url !== undefined && /^[\w-]{1,64}$/.test(traceId ?? '')
    const notes = { rule, approval, trace_id: traceId }
    return {
      ...call,
      slow: durationMs - (result.waited_ms ?? 0) > this.#slowMs,
      ...(result.waited_ms !== undefined && { waitedMs: result.waited_ms }),
      ...(isTrace && { traceUrl: url.replaceAll('{traceId}', traceId ?? '') }),
      ...(Object.values(notes).some(note => note !== undefined) && { notes }),
    }
  }

  #indexOf(serial: string): number {
    return this.#running.findIndex(({ event }) => event.serial === serial)
  }

  #stored(event: CallEvent): StoredCall {
    const { tools } = this.#source.executor
    const tool = tools.findTool(event.call.name)
    return storedCall(event, tool && tools.originOf(tool)?.server)
  }
}

/** What a stored call was made of. */
function eventOf(call: StoredCall): CallEvent {
  const { id, tool: name, args, rule, approval, traceId } = call
  return { ...call, call: { id, name, args }, notes: { rule, approval, trace_id: traceId } }
}

/** A plain copy without secrets; a large value is replaced by a note of its size. Never throws. */
export function recordValue(value: unknown): unknown {
  const limits = { maxDepth: 64, maxEntries: RECORDED_BYTES, maxValues: RECORDED_BYTES / 4, cleaner }
  const { value: copy, bytes, isComplete } = plainCopy(value, { ...limits, maxBytes: RECORDED_BYTES })
  if (bytes <= RECORDED_BYTES) return copy
  const note = `shortened, ${isComplete ? bytes : `more than ${bytes}`} bytes`
  return typeof value === 'string' ? `… ${note}` : { '…': note }
}

/** Leaves out large parts, but keeps the rest of the result. */
export function recordResult(result: ToolResult): ToolResult {
  return Object.fromEntries(Object.entries(result).map(([key, value]) => [key, recordValue(value)])) as never
}

/** A run for lists and events: a large result is replaced by a note. */
export function shortRun(run: Run): Run {
  const { result } = run
  if (!result?.success) return run
  const { content: _, text: __, meta: ___, ...kept } = result
  return { ...run, result: { ...kept, result: recordValue(result.result) } }
}
