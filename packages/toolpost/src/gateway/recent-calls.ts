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

/** What is kept of a call as it runs. The record is made, and secrets are removed, when somebody looks. */
interface Entry {
  event: Pick<CallEvent, 'serial' | 'origin' | 'caller' | 'startedAt'>
  id: unknown
  name: string
  source: string
  args: unknown
  bytes: number
  /** While it is running. */
  cancel: (() => void) | undefined
  progress: Progress | undefined
  result: ToolResult | undefined
  stages: CallEvent['stages']
  notes: Record<string, unknown> | undefined
  record: CallRecord | undefined
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

  /** The newest that fit into `maxBytes`, oldest first. */
  latest(maxBytes: number): CallRecord[] {
    let left = maxBytes
    const entries = [...this.#entries.values()]
    const first = entries.findLastIndex(({ bytes }) => {
      left -= bytes
      return left < 0
    })
    return entries.slice(first + 1).map(entry => this.#record(entry))
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
  note(event: CallEvent): void {
    const entry = this.#entries.get(event.serial) ?? this.#begin(event)
    if (event.result) {
      const { value, bytes } = boundedResult(event.result)
      entry.result = value as ToolResult
      entry.bytes += bytes
      this.#bytes += bytes
      entry.stages = event.stages
      if (event.notes) entry.notes = boundedCopy(event.notes, MAX_NOTES_BYTES).value as Entry['notes']
      entry.cancel = entry.progress = entry.record = undefined
    }
    if (this.#entries.size > 2 * RECENT_CALLS || this.#bytes > RECENT_BYTES) this.#forgetOldest()
  }

  /** Records the progress of a call; returns its record, unless it has ended. */
  noteProgress(serial: string, progress: Progress): CallRecord | undefined {
    const entry = this.#entries.get(serial)
    if (!entry || entry.result) return undefined
    entry.progress = progress
    entry.record = undefined
    return this.#record(entry)
  }

  #begin({ serial, call, origin, caller, startedAt, cancel }: CallEvent): Entry {
    const { tools } = this.#options
    const name = String(call?.name)
    const tool = tools.findTool(name)
    const { value: args, bytes } = boundedCopy(call?.args)
    const entry: Entry = {
      event: { serial, origin, caller, startedAt },
      id: call?.id,
      name,
      source: (tool && tools.originOf(tool)?.server) ?? 'local',
      args,
      bytes: bytes + 200,
      cancel,
      progress: undefined,
      result: undefined,
      stages: undefined,
      notes: undefined,
      record: undefined,
    }
    this.#bytes += entry.bytes
    this.#entries.set(serial, entry)
    return entry
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

  #show({ event, id, name, source, args, progress, result, stages, notes }: Entry): CallRecord {
    const { serial, origin = 'code', caller, startedAt } = event
    const { execution_time_ms: durationMs, waited_ms: waitedMs } = result ?? {}
    const traceUrl = notes && this.#options.traceUrl(notes.trace_id)
    return {
      serial,
      tool: name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}…` : name,
      source,
      origin,
      args: cleaned(args),
      startedAt,
      slow: durationMs !== undefined && this.isSlow(durationMs - (waitedMs ?? 0)),
      ...(id !== undefined && { id: String(id) }),
      ...(caller !== undefined && { caller: safeText(String(caller), MAX_CALLER) }),
      ...(progress && { progress }),
      ...(durationMs !== undefined && { durationMs }),
      ...(result && { result: cleaned(result) as ToolResult }),
      ...(waitedMs !== undefined && { waitedMs }),
      ...(stages && { stages }),
      ...(notes && { notes: cleaned(notes) as Record<string, unknown> }),
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
  const { isComplete, ...copy } = plainCopy(value, {
    maxDepth: MAX_DEPTH,
    maxEntries: Number.POSITIVE_INFINITY,
    maxBytes,
    maxValues: maxBytes / BYTES_PER_VALUE,
    isWhole: true,
  })
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

/** Leaves out a large value, but keeps the rest of the result. */
function boundedResult(result: ToolResult): Bounded {
  const whole = boundedCopy(result)
  if (isObjectLike(whole.value) && 'success' in whole.value) return whole
  const parts = Object.entries(result).map(
    ([key, value]) => [key, boundedCopy(value, RECORDED_BYTES / 2)] as const,
  )
  return {
    value: Object.fromEntries(parts.map(([key, { value }]) => [key, asText(key, value)])),
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
  return { ...run, result: { ...kept, result: recordValue(result.result) } }
}
