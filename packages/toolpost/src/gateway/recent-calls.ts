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
import { RECENT_CALLS, RECENT_CHARACTERS, RECORDED_BYTES } from './limits.ts'

const MAX_NAME = 200
const MAX_CALLER = 100
const MAX_DEPTH = 64
const MAX_SMALL_TEXT = 1_000
const MAX_SMALL_PARTS = 20
const MAX_SMALL_DEPTH = 2

export interface RecentCallsOptions {
  tools: ToolManager
  slowMs: number
  /** Where to see a trace, by its id. */
  traceUrl(traceId: unknown): string | undefined
}

/**
 * The running calls and the last ones, bounded in number and size. Small ones are kept as they are, large ones as text; the
 * record is made, and secrets are removed, when somebody looks.
 */
export class RecentCalls {
  readonly #running = new Map<string, { event: CallEvent; progress?: Progress }>()
  /** The oldest first. */
  readonly #ended = new Map<string, CallEvent | string>()
  readonly #options: RecentCallsOptions
  /** Roughly how much text is kept. */
  #characters = 0

  constructor(options: RecentCallsOptions) {
    this.#options = options
  }

  /** By the time they began. */
  list(): CallRecord[] {
    const ended = [...this.#ended.keys()].slice(-RECENT_CALLS)
    const records = [...ended, ...this.#running.keys()].map(serial => this.get(serial) as CallRecord)
    return records.sort((a, b) => (a.serial < b.serial ? -1 : 1))
  }

  running(): CallRecord[] {
    return [...this.#running.keys()].map(serial => this.get(serial) as CallRecord)
  }

  get(serial: string): CallRecord | undefined {
    const running = this.#running.get(serial)
    if (running) return this.#record(running.event, running.progress)
    const ended = this.#ended.get(serial)
    if (ended === undefined) return undefined
    return this.#record(typeof ended === 'string' ? JSON.parse(ended) : ended)
  }

  isSlow(durationMs: number): boolean {
    return durationMs > this.#options.slowMs
  }

  /** `false` if it is not running. */
  cancel(serial: string): boolean {
    const { event } = this.#running.get(serial) ?? {}
    event?.cancel?.()
    return event !== undefined
  }

  /** Records the start or end of a call. */
  note(event: CallEvent): void {
    const { serial, call, result } = event
    if (!result) return void this.#running.set(serial, { event })
    this.#running.delete(serial)
    const kept = isSmall(call.args) && isSmall(result) ? event : boundedText(event)
    this.#ended.set(serial, kept)
    this.#characters += typeof kept === 'string' ? kept.length : 0
    if (this.#ended.size < 2 * RECENT_CALLS && this.#characters < RECENT_CHARACTERS) return
    // Many at a time: finding the first entry of a map is slow after others were removed.
    const oldest = [...this.#ended.keys()].slice(0, this.#ended.size / 2)
    for (const each of oldest) this.#ended.delete(each)
    this.#characters /= 2
  }

  /** Records the progress of a call; returns its record, unless it has ended. */
  noteProgress(serial: string, progress: Progress): CallRecord | undefined {
    const entry = this.#running.get(serial)
    if (entry) entry.progress = progress
    return entry && this.get(serial)
  }

  #record(event: CallEvent, progress?: Progress): CallRecord {
    const { serial, origin = 'code', caller, startedAt, call, result, notes, stages } = event
    const { tools, traceUrl: urlOf } = this.#options
    const { execution_time_ms: durationMs, waited_ms: waitedMs } = result ?? {}
    const name = String(call?.name)
    const tool = tools.findTool(name)
    const traceUrl = notes && urlOf(notes.trace_id)
    return {
      serial,
      tool: shortText(name, MAX_NAME),
      source: (tool && tools.originOf(tool)?.server) ?? 'local',
      origin,
      args: recordValue(call?.args),
      startedAt,
      slow: durationMs !== undefined && this.isSlow(durationMs - (waitedMs ?? 0)),
      ...(call?.id !== undefined && { id: String(call.id) }),
      ...(caller !== undefined && { caller: safeText(String(caller), MAX_CALLER) }),
      ...(progress && { progress }),
      ...(durationMs !== undefined && { durationMs }),
      ...(result && { result: recordResult(result) }),
      ...(waitedMs !== undefined && { waitedMs }),
      ...(stages && { stages }),
      ...(notes && { notes: cleaned(notes) as Record<string, unknown> }),
      ...(traceUrl !== undefined && { traceUrl }),
    }
  }
}

/** Whether a value is plain data, so small that its size does not matter. */
function isSmall(value: unknown, depth = 0): boolean {
  if (typeof value === 'string') return value.length <= MAX_SMALL_TEXT
  if (typeof value !== 'object' || value === null) return typeof value !== 'bigint'
  if (depth > MAX_SMALL_DEPTH) return false
  try {
    const parts = Object.values(value)
    return parts.length <= MAX_SMALL_PARTS && parts.every(part => isSmall(part, depth + 1))
  } catch {
    // A getter or a proxy.
    return false
  }
}

/** A call as JSON. Large values are left out. Never throws. */
function boundedText({ call, result, notes, ...event }: CallEvent): string {
  const { id, name, args } = call ?? {}
  return JSON.stringify({
    ...event,
    call: { id, name: String(name), args: boundedCopy(args) },
    result: result && boundedResult(result),
    notes: notes && boundedCopy(notes),
  })
}

/** A plain copy of a value. One over `maxBytes` is replaced by a note of its size. Never throws. */
function boundedCopy(value: unknown, maxBytes = RECORDED_BYTES): unknown {
  const maxEntries = Number.POSITIVE_INFINITY
  // A value takes at least four bytes in JSON, separators included.
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
