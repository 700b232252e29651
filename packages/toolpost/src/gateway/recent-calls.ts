import type { ToolResult } from '../call/tool-result.ts'
import type { CallEvent } from '../executor/observers.ts'
import { cleaner, safeText } from '../logging/safe-value.ts'
import type { Run } from '../project/durable.ts'
import { isObjectLike } from '../runtime/guards.ts'
import { plainCopy } from '../runtime/plain-value.ts'
import { shortText } from '../runtime/short-text.ts'
import type { Progress } from '../tools/tool.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import type { CallRecord } from './api-types.ts'
import { RECENT_BYTES, RECENT_CALLS, RECORDED_BYTES } from './limits.ts'

const MAX_NAME = 200
const MAX_CALLER = 100
const MAX_DEPTH = 64

/** A call as it was reported; its record is made, and secrets are removed, when somebody looks. */
interface Entry {
  begin: CallEvent
  end?: CallEvent
  progress?: Progress | undefined
  record?: CallRecord | undefined
  bytes: number
}

export interface RecentCallsOptions {
  tools: ToolManager
  slowMs: number
  /** Where to see a trace, by its id. */
  traceUrl(traceId: unknown): string | undefined
}

/** The running calls and the last ones, in memory, bounded in number and size. */
export class RecentCalls {
  readonly #entries = new Map<string, Entry>()
  readonly #options: RecentCallsOptions
  #bytes = 0

  constructor(options: RecentCallsOptions) {
    this.#options = options
  }

  /** Oldest first. */
  list(): CallRecord[] {
    return [...this.#entries.values()].slice(-RECENT_CALLS).map(entry => this.#record(entry))
  }

  get(serial: string): CallRecord | undefined {
    const entry = this.#entries.get(serial)
    return entry && this.#record(entry)
  }

  isSlow(durationMs: number): boolean {
    return durationMs > this.#options.slowMs
  }

  /** `false` if it is not running. */
  cancel(serial: string): boolean {
    const { begin, end } = this.#entries.get(serial) ?? {}
    if (!begin || end) return false
    begin.cancel?.()
    return true
  }

  /** Records the start or end of a call. */
  note(event: CallEvent): void {
    const entry = this.#entries.get(event.serial)
    if (!entry) {
      const { value: args, bytes } = boundedCopy(event.call?.args)
      this.#entries.set(event.serial, {
        begin: { ...event, call: { ...event.call, args } },
        bytes: bytes + 200,
      })
      this.#bytes += bytes + 200
    } else if (event.result) {
      const { value, bytes } = boundedResult(event.result)
      entry.end = { ...event, call: entry.begin.call, result: value as ToolResult }
      entry.record = entry.progress = undefined
      entry.bytes += bytes
      this.#bytes += bytes
    }
    if (this.#entries.size > 2 * RECENT_CALLS || this.#bytes > RECENT_BYTES) this.#forgetOldest()
  }

  /** Records the progress of a call; returns its record, unless it has ended. */
  noteProgress(serial: string, progress: Progress): CallRecord | undefined {
    const entry = this.#entries.get(serial)
    if (!entry || entry.end) return undefined
    entry.progress = progress
    entry.record = undefined
    return this.#record(entry)
  }

  /** Many at a time: finding the first entry of a map is slow after others were removed. */
  #forgetOldest(): void {
    for (const [serial, { bytes }] of this.#entries) {
      if (this.#entries.size <= RECENT_CALLS && this.#bytes <= RECENT_BYTES / 2) return
      this.#entries.delete(serial)
      this.#bytes -= bytes
    }
  }

  #record(entry: Entry): CallRecord {
    entry.record ??= this.#show(entry)
    return entry.record
  }

  #show({ begin, end, progress }: Entry): CallRecord {
    const { tools, traceUrl: urlOf } = this.#options
    const { serial, call, origin = 'code', caller, startedAt } = begin
    const { stages, notes, result } = end ?? {}
    const { execution_time_ms: durationMs, waited_ms: waitedMs } = result ?? {}
    const tool = tools.findTool(String(call.name))
    const traceUrl = notes && urlOf(notes.trace_id)
    return {
      serial,
      tool: shortText(String(call.name), MAX_NAME),
      source: (tool && tools.originOf(tool)?.server) ?? 'local',
      origin,
      args: cleaned(call.args),
      startedAt,
      slow: durationMs !== undefined && this.isSlow(durationMs - (waitedMs ?? 0)),
      ...(call.id !== undefined && { id: String(call.id) }),
      ...(caller !== undefined && { caller: safeText(String(caller), MAX_CALLER) }),
      ...(progress && { progress }),
      ...(durationMs !== undefined && { durationMs }),
      ...(result && { result: cleaned(result) as ToolResult }),
      ...(waitedMs !== undefined && { waitedMs }),
      ...(stages && { stages }),
      ...(notes && { notes: recordValue(notes) as Record<string, unknown> }),
      ...(traceUrl !== undefined && { traceUrl }),
    }
  }
}

interface Bounded {
  value: unknown
  /** The approximate size as JSON. */
  bytes: number
}

/** A plain copy of a value. One over `maxBytes` is replaced by a note of its size. Never throws. */
function boundedCopy(value: unknown, maxBytes = RECORDED_BYTES): Bounded {
  const maxEntries = Number.POSITIVE_INFINITY
  // At least four bytes per value in JSON, separators included.
  const limits = { maxDepth: MAX_DEPTH, maxEntries, maxBytes, maxValues: maxBytes / 4 }
  const { isComplete, ...copy } = plainCopy(value, limits)
  if (copy.bytes <= maxBytes) return copy
  const size = isComplete ? copy.bytes : `more than ${copy.bytes}`
  return { value: { '…': `shortened, ${size} bytes` }, bytes: 100 }
}

/** A copy without secrets. */
function cleaned(value: unknown): unknown {
  const unlimited = Number.POSITIVE_INFINITY
  const limits = { maxDepth: MAX_DEPTH + 1, maxEntries: unlimited, maxBytes: unlimited, maxValues: unlimited }
  return plainCopy(value, { ...limits, cleaner }).value
}

/** A bounded copy without secrets. */
export function recordValue(value: unknown): unknown {
  return cleaned(boundedCopy(value).value)
}

export function recordResult(result: ToolResult): ToolResult {
  return cleaned(boundedResult(result).value) as ToolResult
}

/** Leaves out a large value, but keeps the rest of the result. Strings stay strings. */
function boundedResult(result: ToolResult): Bounded {
  const whole = boundedCopy(result)
  if (isObjectLike(whole.value) && 'success' in whole.value) return whole
  const parts = Object.entries(result).map(([key, given]) => {
    const { value } = boundedCopy(given, RECORDED_BYTES / 2)
    const isText = typeof given === 'string' && typeof value !== 'string'
    return [key, isText ? `… ${(value as { '…': string })['…']}` : value]
  })
  return { value: Object.fromEntries(parts), bytes: RECORDED_BYTES }
}

/** A run for lists and events: a large result is replaced by a note. */
export function shortRun(run: Run): Run {
  const { result } = run
  if (!result?.success) return run
  const { content: _, text: __, meta: ___, ...kept } = result
  return { ...run, result: { ...kept, result: recordValue(result.result) } }
}
