import type { ToolResult } from '../call/tool-result.ts'
import type { CallEvent } from '../executor/observers.ts'
import { cleaner, safeText } from '../logging/safe-value.ts'
import type { Run } from '../project/durable.ts'
import type { Progress } from '../tools/tool.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import { isRecord } from '../util/guards.ts'
import { plainCopy } from '../util/plain-value.ts'
import { shortText } from '../util/text.ts'
import type { CallRecord } from './api-types.ts'
import { jsonText } from './http.ts'
import { RECENT_CALLS, RECENT_CHARACTERS, RECORDED_BYTES } from './limits.ts'

const MAX_NAME = 200
const MAX_CALLER = 100
const MAX_DEPTH = 64

/**
 * What is kept of a call: bounded copies as text, which are cheap to keep. The record is made, and secrets are removed, when
 * somebody looks.
 */
interface Entry extends Pick<CallEvent, 'serial' | 'origin' | 'caller' | 'startedAt'> {
  /** While it is running. */
  cancel: (() => void) | undefined
  /** The call as JSON. */
  call: string
  /** Its result, notes and stages as JSON, when it has ended. */
  end: string | undefined
  progress: Progress | undefined
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
  #characters = 0

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
    const { cancel, end } = this.#entries.get(serial) ?? {}
    if (!cancel || end) return false
    cancel()
    return true
  }

  /** Records the start or end of a call. */
  note(event: CallEvent): void {
    const { serial, call, origin, caller, startedAt, cancel, result, notes, stages } = event
    const entry = this.#entries.get(serial)
    if (!entry) {
      const text = jsonText({ id: call?.id, name: String(call?.name), args: boundedCopy(call?.args) })
      // Not with a spread, which would make every later access slow.
      this.#entries.set(serial, {
        serial,
        origin,
        caller,
        startedAt,
        cancel,
        call: text,
        end: undefined,
        progress: undefined,
        record: undefined,
      })
      this.#characters += text.length
    } else if (result) {
      entry.end = jsonText({ result: boundedResult(result), notes: notes && boundedCopy(notes), stages })
      entry.record = entry.progress = entry.cancel = undefined
      this.#characters += entry.end.length
    }
    if (this.#entries.size > 2 * RECENT_CALLS || this.#characters > RECENT_CHARACTERS) this.#forgetOldest()
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
    for (const [serial, { call, end = '' }] of this.#entries) {
      if (this.#entries.size <= RECENT_CALLS && this.#characters <= RECENT_CHARACTERS / 2) return
      this.#entries.delete(serial)
      this.#characters -= call.length + end.length
    }
  }

  #record(entry: Entry): CallRecord {
    entry.record ??= this.#show(entry)
    return entry.record
  }

  #show({ serial, origin = 'code', caller, startedAt, call, end = '{}', progress }: Entry): CallRecord {
    const { tools, traceUrl: urlOf } = this.#options
    const { id, name, args } = JSON.parse(call) as { id?: unknown; name: string; args: unknown }
    const { result, notes, stages } = JSON.parse(end) as Pick<CallEvent, 'result' | 'notes' | 'stages'>
    const { execution_time_ms: durationMs, waited_ms: waitedMs } = result ?? {}
    const tool = tools.findTool(name)
    const traceUrl = notes && urlOf(notes.trace_id)
    return {
      serial,
      tool: shortText(name, MAX_NAME),
      source: (tool && tools.originOf(tool)?.server) ?? 'local',
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

/** A plain copy of a value. One over `maxBytes` is replaced by a note of its size. Never throws. */
function boundedCopy(value: unknown, maxBytes = RECORDED_BYTES): unknown {
  const maxEntries = Number.POSITIVE_INFINITY
  // At least four bytes per value in JSON, separators included.
  const limits = { maxDepth: MAX_DEPTH, maxEntries, maxBytes, maxValues: maxBytes / 4 }
  const copy = plainCopy(value, limits)
  if (copy.bytes <= maxBytes) return copy.value
  const size = copy.isComplete ? copy.bytes : `more than ${copy.bytes}`
  return { '…': `shortened, ${size} bytes` }
}

/** A copy without secrets. */
function cleaned(value: unknown): unknown {
  const unlimited = Number.POSITIVE_INFINITY
  const limits = { maxDepth: MAX_DEPTH + 1, maxEntries: unlimited, maxBytes: unlimited, maxValues: unlimited }
  return plainCopy(value, { ...limits, cleaner }).value
}

/** A bounded copy without secrets. */
export function recordValue(value: unknown): unknown {
  return cleaned(boundedCopy(value))
}

export function recordResult(result: ToolResult): ToolResult {
  return cleaned(boundedResult(result)) as ToolResult
}

/** Leaves out a large value, but keeps the rest of the result. Strings stay strings. */
function boundedResult(result: ToolResult): unknown {
  const whole = boundedCopy(result)
  if (isRecord(whole) && 'success' in whole) return whole
  const parts = Object.entries(result).map(([key, given]) => {
    const value = boundedCopy(given, RECORDED_BYTES / 2)
    return [key, typeof given === 'string' && isRecord(value) ? `… ${value['…']}` : value]
  })
  return Object.fromEntries(parts)
}

/** A run for lists and events: a large result is replaced by a note. */
export function shortRun(run: Run): Run {
  const { result } = run
  if (!result?.success) return run
  const { content: _, text: __, meta: ___, ...kept } = result
  return { ...run, result: { ...kept, result: recordValue(result.result) } }
}
