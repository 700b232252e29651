import type { ToolResult } from '../call/tool-result.ts'
import type { CallEvent } from '../executor/observers.ts'
import { safeText } from '../logging/safe-value.ts'
import { isObjectLike } from '../runtime/guards.ts'
import type { Progress } from '../tools/tool.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import type { CallRecord } from './api-types.ts'
import { JOURNAL_BYTES, JOURNAL_CALLS, RECORDED_BYTES } from './limits.ts'
import { recordValue } from './record-value.ts'

const MAX_CALLER = 100
const MAX_NOTES_BYTES = 2_000

export interface JournalEntry {
  record: CallRecord
  /** Its approximate size in memory. */
  bytes: number
}

export interface JournalOptions {
  tools: ToolManager
  slowMs: number
  maxCalls?: number
  maxBytes?: number
  /** Where to see a trace, by its id. */
  traceUrl?: (traceId: unknown) => string | undefined
}

/** The last calls, in memory, bounded in number and size. */
export class CallJournal {
  readonly #entries = new Map<string, JournalEntry>()
  readonly #options: JournalOptions
  readonly #maxCalls: number
  readonly #maxBytes: number
  #bytes = 0

  constructor(options: JournalOptions) {
    this.#options = options
    this.#maxCalls = options.maxCalls ?? JOURNAL_CALLS
    this.#maxBytes = options.maxBytes ?? JOURNAL_BYTES
  }

  /** Oldest first. */
  records(): CallRecord[] {
    return Array.from(this.#entries.values(), entry => entry.record)
  }

  /** The newest records that fit into `maxBytes`, oldest first. */
  latest(maxBytes: number): CallRecord[] {
    const entries = [...this.#entries.values()]
    let left = maxBytes
    const last = entries.findLastIndex(({ bytes }) => {
      left -= bytes
      return left < 0
    })
    return entries.slice(last + 1).map(({ record }) => record)
  }

  isSlow(durationMs: number): boolean {
    return durationMs > this.#options.slowMs
  }

  /** Records the start or end of a call; returns its entry. */
  note(event: CallEvent): JournalEntry {
    const entry = event.result ? this.#ended(event, event.result) : this.#begun(event)
    this.#bytes += entry.bytes - (this.#entries.get(event.serial)?.bytes ?? 0)
    this.#entries.set(event.serial, entry)
    this.#forgetOldest()
    return entry
  }

  /** Records the progress of a call; returns its record, unless it has ended. */
  noteProgress(serial: string, progress: Progress): CallRecord | undefined {
    const entry = this.#entries.get(serial)
    if (!entry || entry.record.result) return undefined
    // A copy: the record of the start may not have been sent yet.
    const record = { ...entry.record, progress }
    this.#entries.set(serial, { ...entry, record })
    return record
  }

  #begun({ serial, call, origin, caller, startedAt }: CallEvent): JournalEntry {
    const { tools } = this.#options
    const name = String(call?.name)
    const tool = tools.findTool(name)
    const args = recordValue(call?.args, RECORDED_BYTES)
    const record: CallRecord = {
      serial,
      tool: name.length > 200 ? `${name.slice(0, 200)}…` : name,
      source: (tool && tools.originOf(tool)?.server) ?? 'local',
      origin: origin ?? 'code',
      args: args.value,
      startedAt,
      slow: false,
    }
    if (call?.id !== undefined) record.id = String(call.id)
    if (caller !== undefined) record.caller = safeText(String(caller), MAX_CALLER)
    return { record, bytes: args.bytes + 200 }
  }

  #ended(event: CallEvent, result: ToolResult): JournalEntry {
    const { record, bytes } = this.#entries.get(event.serial) ?? this.#begun(event)
    const recorded = recordResult(result)
    // A copy, because the record of the start may not have been sent yet. Field by field: this runs in every call.
    const { serial, tool, source, origin, args, startedAt } = record
    const durationMs = result.execution_time_ms
    const slow = this.isSlow(durationMs - (result.waited_ms ?? 0))
    const ended: CallRecord = {
      serial,
      tool,
      source,
      origin,
      args,
      startedAt,
      slow,
      durationMs,
      result: recorded.result,
    }
    if (record.caller !== undefined) ended.caller = record.caller
    if (record.id !== undefined) ended.id = record.id
    if (result.waited_ms !== undefined) ended.waitedMs = result.waited_ms
    if (event.stages) ended.stages = event.stages
    if (event.notes === undefined) return { record: ended, bytes: bytes + recorded.bytes }
    const notes = recordValue(event.notes, MAX_NOTES_BYTES)
    ended.notes = notes.value as Record<string, unknown>
    const traceUrl = this.#options.traceUrl?.(event.notes.trace_id)
    if (traceUrl !== undefined) ended.traceUrl = traceUrl
    return { record: ended, bytes: bytes + recorded.bytes + notes.bytes }
  }

  #forgetOldest(): void {
    for (const [serial, { bytes }] of this.#entries) {
      if (this.#entries.size <= this.#maxCalls && this.#bytes <= this.#maxBytes) return
      this.#entries.delete(serial)
      this.#bytes -= bytes
    }
  }
}

/** Leaves out a large value, but keeps the rest of the result. */
export function recordResult(result: ToolResult): { result: ToolResult; bytes: number } {
  const whole = recordValue(result, RECORDED_BYTES)
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
