import { getEventListeners } from 'node:events'
import type { Tool } from '../tools/tool.ts'
import { type Clock, MAX_TIMER_MS, type Timer } from '../util/clock.ts'
import { quietly } from '../util/quietly.ts'
import type { CallContext } from './context.ts'

/** A limit in milliseconds; anything else counts as not given. */
export const limitOf = (ms: number | undefined) => (typeof ms === 'number' && ms >= 0 ? ms : undefined)

/** The caller's limit, else the tool's, else the executor's; never more than the tool's `maxTimeoutMs`. */
export function timeLimit(own: number | undefined, tool: Tool | undefined, usual: number): number {
  const limitMs = limitOf(own) ?? limitOf(tool?.timeoutMs) ?? usual
  return Math.min(limitMs, limitOf(tool?.maxTimeoutMs) ?? limitMs)
}

/** All deadlines on one timer, set for the earliest: a timer per call would cost more than the rest of the call. */
export class Deadlines {
  readonly #clock: Clock
  readonly #running: CallContext[] = []
  #timer: Timer | undefined
  #timerAt = Number.POSITIVE_INFINITY

  constructor(clock: Clock) {
    this.#clock = clock
  }

  add(call: CallContext): void {
    call.place = this.#running.push(call) - 1
    this.watch(call)
    // The timer keeps the process alive only while calls are running.
    if (call.place === 0) this.#timer?.hold(true)
  }

  remove(call: CallContext): void {
    // The last one takes its place.
    const last = this.#running.pop() as CallContext
    if (last !== call) this.#running[call.place] = last
    last.place = call.place
    if (this.#running.length === 0) this.#timer?.hold(false)
  }

  /** Sets the timer if it would be too late for this call. */
  watch({ deadlineAt }: CallContext): void {
    if (deadlineAt >= this.#timerAt) return
    this.#timer?.cancel()
    this.#timerAt = deadlineAt
    // Rounded up: a timer that fires early would find nothing due.
    const delayMs = Math.min(Math.max(Math.ceil(deadlineAt - this.#clock.now()), 1), MAX_TIMER_MS)
    this.#timer = this.#clock.setTimer(() => this.#fire(), delayMs)
  }

  #fire(): void {
    this.#timer = undefined
    this.#timerAt = Number.POSITIVE_INFINITY
    const now = this.#clock.now()
    for (const call of [...this.#running]) if (call.deadlineAt <= now) call.expire()
    for (const call of this.#running) this.watch(call)
  }
}

/** The calls that a signal cancels, oldest first: one listener for all, as ten thousand would be slow. */
const watched = new WeakMap<AbortSignal, CallContext[]>()

export function watch(signal: AbortSignal, call: CallContext): void {
  if (signal.aborted) return call.cancel()
  const known = watched.get(signal)
  if (known) return void known.push(call)
  const calls = [call]
  watched.set(signal, calls)
  signal.addEventListener('abort', () => [...calls].forEach(each => void each.cancel()), { once: true })
}

export function unwatch(signal: AbortSignal, call: CallContext): void {
  const at = watched.get(signal)?.indexOf(call) ?? -1
  if (at >= 0) watched.get(signal)?.splice(at, 1)
}

type OnError = (error: unknown) => void
type Listener = ((event: Event) => unknown) | { handleEvent(event: Event): unknown }

/** Aborts a tool's signal. Node would end the process if a listener throws or rejects; here the error goes to `onError`. */
export function abortSafely(controller: AbortController, reason: string, onError: OnError): void {
  const { signal } = controller
  for (const listener of getEventListeners(signal, 'abort') as Listener[]) {
    for (const capture of [false, true]) signal.removeEventListener('abort', listener, { capture })
    const call = (event: Event) =>
      typeof listener === 'function' ? listener.call(signal, event) : listener.handleEvent(event)
    signal.addEventListener('abort', event => quietly(() => call(event), onError), { once: true })
  }
  controller.abort(new DOMException(reason, 'AbortError'))
}
