import type { ToolResult } from '../call/tool-result.ts'
import type { CallEvent } from '../executor/observers.ts'
import { DEFAULT_SLOW_MS } from '../executor/options.ts'
import { History } from '../history/history.ts'
import { cleaner, safeText } from '../logging/safe-value.ts'
import type { Run } from '../project/durable.ts'
import type { Progress } from '../tools/tool.ts'
import { plainCopy } from '../util/plain-value.ts'
import { shortText } from '../util/text.ts'
import type { CallRecord } from './api-types.ts'
import type { GatewaySource } from './context.ts'
import { MAX_MEMORY_MB, RECENT_CALLS, RECORDED_BYTES, SHORTENED_MS } from './limits.ts'

const bySerial = (a: { serial: string }, b: { serial: string }) => (a.serial < b.serial ? -1 : 1)

/** The running calls and the last ones. Secrets are removed when somebody looks. */
export class RecentCalls {
  readonly #source: GatewaySource
  readonly #slowMs: number
  readonly #running = new Map<string, { event: CallEvent; progress?: Progress }>()
  /** The last calls, in a circle: the oldest is overwritten. */
  readonly #ended: CallEvent[] = []
  #count = 0
  /** How many of them, from the first on, have had their large values left out. */
  #shortened = 0
  #timer: NodeJS.Timeout | undefined
  #history: History | undefined

  constructor(source: GatewaySource, slowMs = DEFAULT_SLOW_MS) {
    this.#source = source
    this.#slowMs = slowMs
  }

  /** By the time they began. */
  list(): CallRecord[] {
    return [...this.#ended.map(event => this.#record(event)), ...this.running()].sort(bySerial)
  }

  running(): CallRecord[] {
    return [...this.#running.values()].map(({ event, progress }) => this.#record(event, progress))
  }

  get(serial: string): CallRecord | undefined {
    const { event, progress } = this.#running.get(serial) ?? {}
    const found = event ?? this.#ended.findLast(each => each.serial === serial)
    return found && this.#record(found, progress)
  }

  /** The configured history, if it is readable; else one in memory, filled with the last calls when it is first needed. */
  history(): History {
    const configured = this.#source.history?.()
    const { state } = configured?.status() ?? {}
    if (configured && (state === 'open' || state === 'opening')) return configured
    if (this.#history) return this.#history
    const { executor } = this.#source
    this.#history = new History({ file: ':memory:', maxMb: MAX_MEMORY_MB })
    const observe = (observer: (event: CallEvent) => void) => {
      this.#ended.toSorted(bySerial).forEach(observer)
      return executor.observe(observer)
    }
    this.#history.observe({ tools: executor.tools, observe })
    return this.#history
  }

  async close(): Promise<void> {
    await this.#history?.close()
  }

  isSlow(durationMs: number): boolean {
    return durationMs > this.#slowMs
  }

  /** `false` if it is not running. */
  cancel(serial: string): boolean {
    const { event } = this.#running.get(serial) ?? {}
    event?.cancel?.()
    return event !== undefined
  }

  /** Records the start or end of a call. Large values are left out a moment later, and not on the path of a call. */
  note(event: CallEvent): void {
    if (!event.result) return void this.#running.set(event.serial, { event })
    this.#running.delete(event.serial)
    this.#ended[this.#count++ % RECENT_CALLS] = event
    this.#timer ??= setTimeout(() => this.#shorten(), SHORTENED_MS).unref()
  }

  /** Records the progress of a call; returns its record, unless it has ended. */
  noteProgress(serial: string, progress: Progress): CallRecord | undefined {
    const entry = this.#running.get(serial)
    if (entry) entry.progress = progress
    return entry && this.get(serial)
  }

  #shorten(): void {
    this.#timer = undefined
    for (let at = Math.max(this.#shortened, this.#count - RECENT_CALLS); at < this.#count; at++) {
      const { call, result, ...event } = this.#ended[at % RECENT_CALLS] as CallEvent & { result: ToolResult }
      const args = bounded(call.args, false)
      this.#ended[at % RECENT_CALLS] = {
        ...event,
        call: { ...call, args },
        result: boundedResult(result, false),
      }
    }
    this.#shortened = this.#count
  }

  #record(event: CallEvent, progress?: Progress): CallRecord {
    const { serial, origin = 'code', caller, startedAt, call, result, notes, stages } = event
    const { tools } = this.#source.executor
    const { execution_time_ms: durationMs, waited_ms: waitedMs } = result ?? {}
    const tool = tools.findTool(call.name)
    const about = { durationMs, waitedMs, progress, stages, traceUrl: this.traceUrl(notes?.trace_id) }
    return {
      serial,
      tool: shortText(call.name, 200),
      source: (tool && tools.originOf(tool)?.server) ?? 'local',
      origin,
      args: recordValue(call.args),
      startedAt,
      slow: this.isSlow((durationMs ?? 0) - (waitedMs ?? 0)),
      ...(call.id !== undefined && { id: String(call.id) }),
      ...(caller !== undefined && { caller: safeText(caller, 100) }),
      ...(result && { result: recordResult(result) }),
      ...(notes && { notes: recordValue(notes) as Record<string, unknown> }),
      ...(Object.fromEntries(Object.entries(about).filter(([, value]) => value !== undefined)) as object),
    }
  }

  /** Where to see the trace of a call, if it has one and `trace.url` is configured. */
  traceUrl(traceId: unknown): string | undefined {
    const { url } = this.#source.config?.trace || {}
    if (url === undefined || typeof traceId !== 'string' || !/^[\w-]{1,64}$/.test(traceId)) return undefined
    return url.replaceAll('{traceId}', traceId)
  }
}

/** A plain copy of a value, without secrets if `clean`; a large one is replaced by a note of its size. Never throws. */
function bounded(value: unknown, clean: boolean): unknown {
  const most = { maxDepth: 64, maxEntries: RECORDED_BYTES, maxValues: RECORDED_BYTES / 4 }
  const limits = { ...most, maxBytes: RECORDED_BYTES, ...(clean && { cleaner }) }
  const { value: copy, bytes, isComplete } = plainCopy(value, limits)
  if (bytes <= RECORDED_BYTES) return copy
  const note = `shortened, ${isComplete ? bytes : `more than ${bytes}`} bytes`
  return typeof value === 'string' ? `… ${note}` : { '…': note }
}

/** Leaves out large parts, but keeps the rest of the result. */
function boundedResult(result: ToolResult, clean: boolean): ToolResult {
  const parts = Object.entries(result).map(([key, value]) => [key, bounded(value, clean)])
  return Object.fromEntries(parts)
}

/** A bounded copy without secrets. */
export function recordValue(value: unknown): unknown {
  return bounded(value, true)
}

export function recordResult(result: ToolResult): ToolResult {
  return boundedResult(result, true)
}

/** A run for lists and events: a large result is replaced by a note. */
export function shortRun(run: Run): Run {
  const { result } = run
  if (!result?.success) return run
  const { content: _, text: __, meta: ___, ...kept } = result
  return { ...run, result: { ...kept, result: recordValue(result.result) } }
}
