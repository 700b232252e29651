import type { ToolResult } from '../call/tool-result.ts'
import type { CallEvent } from '../executor/observers.ts'
import { cleaner, safeText } from '../logging/safe-value.ts'
import type { Run } from '../project/durable.ts'
import { isObjectLike } from '../runtime/guards.ts'
import { plainCopy } from '../runtime/plain-value.ts'
import type { Progress } from '../tools/tool.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import type { CallRecord } from './api-types.ts'
import { RECENT_BYTES, RECENT_CALLS, RECORDED_BYTES } from './limits.ts'

const MAX_NAME = 200
const MAX_CALLER = 100
const MAX_NOTES_BYTES = 2_000
const MAX_DEPTH = 64
/** A typical minimum per value in JSON, separators included; limits how many values are counted. */
const BYTES_PER_VALUE = 4

interface Entry {
  record: CallRecord
  bytes: number
  cancel: (() => void) | undefined
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
    return Array.from(this.#entries.values(), entry => entry.record)
  }

  get(serial: string): CallRecord | undefined {
    return this.#entries.get(serial)?.record
  }

  /** The newest that fit into `maxBytes`, oldest first. */
  latest(maxBytes: number): CallRecord[] {
    let left = maxBytes
    const entries = [...this.#entries.values()]
    const first = entries.findLastIndex(({ bytes }) => {
      left -= bytes
      return left < 0
    })
    return entries.slice(first + 1).map(({ record }) => record)
  }

  isSlow(durationMs: number): boolean {
    return durationMs > this.#options.slowMs
  }

  /** `false` if it is not running. */
  cancel(serial: string): boolean {
    const { cancel } = this.#entries.get(serial) ?? {}
    cancel?.()
    return cancel !== undefined
  }

  /** Records the start or end of a call. */
  note(event: CallEvent): CallRecord {
    const begun = this.#entries.get(event.serial) ?? this.#begun(event)
    const entry = event.result ? this.#ended(begun, event, event.result) : begun
    this.#bytes += entry.bytes - (this.#entries.get(event.serial)?.bytes ?? 0)
    this.#entries.set(event.serial, entry)
    for (const [serial, { bytes }] of this.#entries) {
      if (this.#entries.size <= RECENT_CALLS && this.#bytes <= RECENT_BYTES) break
      this.#entries.delete(serial)
      this.#bytes -= bytes
    }
    return entry.record
  }

  /** Records the progress of a call; returns its record, unless it has ended. */
  noteProgress(serial: string, progress: Progress): CallRecord | undefined {
    const entry = this.#entries.get(serial)
    if (!entry || entry.record.result) return undefined
    // A copy: the record of the start may not have been sent yet.
    entry.record = { ...entry.record, progress }
    return entry.record
  }

  #begun({ serial, call, origin, caller, startedAt, cancel }: CallEvent): Entry {
    const { tools } = this.#options
    const name = String(call?.name)
    const tool = tools.findTool(name)
    const args = recordValue(call?.args)
    const record: CallRecord = {
      serial,
      tool: name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}…` : name,
      source: (tool && tools.originOf(tool)?.server) ?? 'local',
      origin: origin ?? 'code',
      args: args.value,
      startedAt,
      slow: false,
      ...(call?.id !== undefined && { id: String(call.id) }),
      ...(caller !== undefined && { caller: safeText(String(caller), MAX_CALLER) }),
    }
    return { record, bytes: args.bytes + 200, cancel }
  }

  #ended({ record, bytes }: Entry, { stages, notes }: CallEvent, result: ToolResult): Entry {
    const { progress: _, ...begun } = record
    const recorded = recordResult(result)
    const { execution_time_ms: durationMs, waited_ms: waitedMs } = result
    const traceUrl = notes && this.#options.traceUrl(notes.trace_id)
    const ended: CallRecord = {
      ...begun,
      slow: this.isSlow(durationMs - (waitedMs ?? 0)),
      durationMs,
      result: recorded.result,
      ...(waitedMs !== undefined && { waitedMs }),
      ...(stages && { stages }),
      ...(notes && { notes: recordValue(notes, MAX_NOTES_BYTES).value as Record<string, unknown> }),
      ...(traceUrl !== undefined && { traceUrl }),
    }
    return { record: ended, bytes: bytes + recorded.bytes, cancel: undefined }
  }
}

export interface Recorded {
  value: unknown
  /** The approximate size as JSON. */
  bytes: number
}

/** A copy of a value: plain data, without secrets. One over `maxBytes` is replaced by a note of its size. Never throws. */
export function recordValue(value: unknown, maxBytes = RECORDED_BYTES): Recorded {
  const { isComplete, ...copy } = plainCopy(value, {
    maxDepth: MAX_DEPTH,
    maxEntries: Number.POSITIVE_INFINITY,
    maxBytes,
    maxValues: maxBytes / BYTES_PER_VALUE,
    isWhole: true,
    cleaner,
  })
  if (copy.bytes <= maxBytes) return copy
  const size = isComplete ? copy.bytes : `more than ${copy.bytes}`
  return { value: { '…': `shortened, ${size} bytes` }, bytes: 100 }
}

/** Leaves out a large value, but keeps the rest of the result. */
export function recordResult(result: ToolResult): { result: ToolResult; bytes: number } {
  const whole = recordValue(result)
  if (isObjectLike(whole.value) && 'success' in whole.value)
    return { result: whole.value as ToolResult, bytes: whole.bytes }
  const parts = Object.entries(result).map(
    ([key, value]) => [key, recordValue(value, RECORDED_BYTES / 2)] as const,
  )
  const shortened = Object.fromEntries(parts.map(([key, { value }]) => [key, asText(key, value)]))
  return {
    result: shortened as unknown as ToolResult,
    bytes: parts.reduce((sum, [, { bytes }]) => sum + bytes, 0),
  }
}

/** Strings stay strings, even if only their size is left. */
function asText(key: string, value: unknown): unknown {
  if ((key !== 'text' && key !== 'error') || typeof value === 'string') return value
  return `… ${(value as { '…'?: string })['…'] ?? ''}`
}

/** A run for lists and events: a large result is replaced by a note. */
export function shortRun(run: Run): Run {
  const { result } = run
  if (!result?.success) return run
  const { content: _, text: __, meta: ___, ...kept } = result
  return { ...run, result: { ...kept, result: recordValue(result.result).value } }
}
