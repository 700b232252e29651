import type { ToolResult } from '../call/tool-result.ts'
import type { CallEvent } from '../executor/observers.ts'
import { DEFAULT_SLOW_MS } from '../executor/options.ts'
import { History } from '../history/history.ts'
import { plainValue, type StoredCall, storedCall } from '../history/stored-call.ts'
import type { Run } from '../project/durable.ts'
import type { Progress } from '../tools/tool.ts'
import type { CallRecord, GatewayEvents } from './api-types.ts'
import type { GatewaySource } from './context.ts'
import { MAX_MEMORY_MB, PROGRESS_TOLD_MS, RECORDED_BYTES } from './limits.ts'

const UNFINISHED: ToolResult = { success: true, result: undefined, tool_name: '', execution_time_ms: 0 }

interface RunningCall {
  event: CallEvent
  progress?: Progress
  toldAt: number
}

/** The running calls, and the ended ones: in the configured history, or else the last ones in memory. */
export class CallLog {
  readonly #source: GatewaySource
  readonly #slowMs: number
  /** By serial, oldest first. */
  readonly #running = new Map<string, RunningCall>()
  /** For the calls that end while no history is configured. */
  readonly #memory = new History({ file: ':memory:', maxMb: MAX_MEMORY_MB })

  constructor(source: GatewaySource, slowMs = DEFAULT_SLOW_MS) {
    this.#source = source
    this.#slowMs = slowMs
  }

  /** The running calls, oldest first. */
  running(): CallRecord[] {
    return [...this.#running.values()].map(({ event, progress }) => this.record(event, progress))
  }

  /** The record of a call that runs or has ended just now. */
  record(event: CallEvent, progress?: Progress): CallRecord {
    if (event.result) return this.recordOf(storedCall(event))
    const { tools } = this.#source.executor
    const tool = tools.findTool(event.call.name)
    const server = tool && tools.originOf(tool)?.server
    const record = this.recordOf(storedCall({ ...event, result: UNFINISHED, server }))
    return { ...record, ...({ result: undefined, durationMs: undefined, progress } as object) }
  }

  /** The configured history, or else the one in memory. */
  history(): History {
    return this.#source.history?.() ?? this.#memory
  }

  async close(): Promise<void> {
    await this.#memory.close()
  }

  /** The running call with this serial, and how to cancel it. */
  find(serial: string): { call: CallRecord; cancel(): void } | undefined {
    const { event, progress } = this.#running.get(serial) ?? {}
    return event && { call: this.record(event, progress), cancel: () => event.cancel?.() }
  }

  /** Records the start or end of a call. */
  note(event: CallEvent): void {
    if (!event.result) return void this.#running.set(event.serial, { event, toldAt: 0 })
    this.#running.delete(event.serial)
    if (!this.#source.history?.()) this.#memory.record(event)
  }

  /** Records the progress of a call; returns what to tell of it, which is not too often. */
  noteProgress(serial: string, progress: Progress): GatewayEvents['progress'] | undefined {
    const call = this.#running.get(serial)
    const now = performance.now()
    if (!call) return undefined
    call.progress = progress
    if (call.toldAt > 0 && now - call.toldAt < PROGRESS_TOLD_MS) return undefined
    call.toldAt = now
    const { caller } = call.event
    return { serial, ...progress, ...(caller !== undefined && { caller }) }
  }

  /** A call as the API shows it: whether it was slow, and where to see its trace. */
  recordOf(call: StoredCall): CallRecord {
    const { traceId, result, durationMs } = call
    const { url } = this.#source.config?.trace || {}
    const isTrace = url !== undefined && /^[\w-]{1,64}$/.test(traceId ?? '')
    return {
      ...call,
      slow: durationMs - (result.waited_ms ?? 0) > this.#slowMs,
      ...(isTrace && { traceUrl: url.replaceAll('{traceId}', traceId ?? '') }),
    }
  }
}

/** A value without secrets; a large one is shortened as in a log. */
export function recordValue(value: unknown): unknown {
  return plainValue(value, RECORDED_BYTES)
}

/** A run for lists and events: a large result is replaced by a note. */
export function shortRun(run: Run): Run {
  const { result } = run
  if (!result?.success) return run
  const { content: _, text: __, meta: ___, ...kept } = result
  return { ...run, result: { ...kept, result: recordValue(result.result) } }
}
