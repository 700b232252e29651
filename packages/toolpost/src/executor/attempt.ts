import type { ToolCall } from '../call/tool-call.ts'
import type { Clock } from '../runtime/clock.ts'
import { describeThrown } from '../runtime/quietly.ts'
import type { ServerRequest } from '../tools/tool.ts'
import type { ToolFigures } from './metrics.ts'
import type { CallEvent } from './observers.ts'
import type { RunOptions, TypedCall } from './options.ts'

/** A call on its way through the stages. The caller's objects are read once and never again. */
export interface Attempt {
  readonly id: string | undefined
  readonly name: string
  readonly args: unknown
  readonly options: RunOptions
  readonly startedAt: number
  /** How long before `run` the call began. */
  readonly beforeMs: number
  event: CallEvent | undefined
  figures: ToolFigures | undefined
  repairs: string[] | undefined
  /** Inside interceptors: what the inner stages return is not yet the result. */
  isIntercepted: boolean
  /** How long interceptors delayed the call. */
  waitedMs: number
  meta: Record<string, unknown> | undefined
  notes: Record<string, unknown> | undefined
  onRequest: ((request: ServerRequest) => void) | undefined
  /** Since the start of the call, once known; only for observed calls. */
  foundMs: number | undefined
  fittedMs: number | undefined
  /** The stage that can be cancelled: a waiting interceptor, or the running tool. */
  running: { cancel(): void } | undefined
  /** Cancelled by someone other than the caller. */
  isCancelled: boolean
  /** Aborts with `isCancelled`, for waiting interceptors. */
  ended: AbortController | undefined
  /** Combines the caller's signal and `ended`. */
  signal: AbortSignal | undefined
}

const NO_OPTIONS: RunOptions = {}
const NO_NAME = '(no name)'
/** Replaces arguments that throw when they are read; no schema accepts it. */
const UNREADABLE = Symbol('unreadable')

/** Reads a call, which may be anything, even null or an object whose getters throw. Never throws. */
export function attemptOf(
  call: ToolCall | TypedCall<object, unknown>,
  options: RunOptions | undefined,
  now: number,
): Attempt {
  const startedAt = options?.startedAt ?? now
  let id: unknown
  let name: unknown
  let args: unknown
  try {
    id = call.id
    name = (call as ToolCall).name ?? (call as TypedCall<object, unknown>).tool?.name
    args = call.args
  } catch {
    args = UNREADABLE
  }
  return {
    id: typeof id === 'string' || id === undefined || id === null ? (id ?? undefined) : describeThrown(id),
    name: typeof name === 'string' ? name : nameOf(name),
    args,
    options: options ?? NO_OPTIONS,
    startedAt,
    beforeMs: now - startedAt,
    event: undefined,
    figures: undefined,
    repairs: undefined,
    isIntercepted: false,
    waitedMs: 0,
    meta: undefined,
    notes: undefined,
    onRequest: undefined,
    foundMs: undefined,
    fittedMs: undefined,
    running: undefined,
    isCancelled: false,
    ended: undefined,
    signal: undefined,
  }
}

/** Since the call began, in milliseconds with three decimals. */
export function elapsedMs({ startedAt }: Attempt, clock: Clock): number {
  return Math.round((clock.now() - startedAt) * 1_000) / 1_000
}

/** Cancels a call at any stage, as its caller could. */
export function cancelAttempt(attempt: Attempt): void {
  attempt.isCancelled = true
  attempt.ended?.abort(new DOMException('The call was cancelled', 'AbortError'))
  attempt.running?.cancel()
}

function nameOf(name: unknown): string {
  return name === undefined || name === null ? NO_NAME : describeThrown(name)
}
