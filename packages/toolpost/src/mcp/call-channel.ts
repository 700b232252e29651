import { isRecord } from '../runtime/guards.ts'
import { inSlices } from '../runtime/slices.ts'
import type { Progress } from '../tools/tool.ts'
import { refusalOf } from './call-result.ts'
import { REMEMBERED_CALLS } from './limits.ts'
import { ServerLostError } from './server-failure.ts'
import { type LinkRequestOptions, type Requester, soleRequester } from './server-link.ts'

/** A request awaiting its response. */
export interface PendingCall {
  resolve(result: unknown): void
  reject(error: Error): void
  onProgress?: ((progress: Progress) => void) | undefined
  meta?: Readonly<Record<string, unknown>> | undefined
  from?: Requester | undefined
  /** Not a tool call: a response to it does not prove that the server works. */
  isAside?: boolean
}

export interface ChannelEvents {
  /** Whether the server has stopped reading: calls are then not even serialized. */
  isStuck(): boolean
  /** Whether further calls should wait for the next turn of the event loop: serializing them all would block it. */
  hasEnough(): boolean
  /** Returns `false`, without sending anything, if the server has stopped reading. */
  send(message: object): boolean
  /** A response without a pending call: late, repeated, or to a call that was never made. */
  stray(id: unknown, isLate: boolean): void
  /** The result of a call that had already been cancelled. */
  late?(result: unknown): void
}

/** The SDK numbers its own requests from 0, and makes only a few. */
const FIRST_ID = 1_000_000
/** With more pending requests than this, the requester is not determined. */
const MAX_LOOKED_AT = 1_000

/**
 * The requests of one stdio connection after its handshake. They bypass the SDK's request machinery, which costs a timer,
 * an AbortSignal and two schema checks per call, and loses a progress notification that arrives together with the response.
 * The SDK handles the rest of the protocol.
 */
export class CallChannel {
  readonly #events: ChannelEvents
  /** Sent in the `_meta` of every request: the newest protocol has no session to remember it. */
  readonly #meta: Record<string, unknown> | undefined
  readonly #pending = new Map<number, PendingCall>()
  /** Calls waiting for the next turn, and the functions that send them. */
  readonly #waiting = new Map<number, () => void>()
  readonly #cancelled = new Set<number>()
  #nextId = FIRST_ID
  #answered = 0
  #onIdle: (() => void) | undefined

  constructor(events: ChannelEvents, meta?: Record<string, unknown>) {
    this.#events = events
    this.#meta = meta
  }

  /** How many tool calls were answered. */
  get answered(): number {
    return this.#answered
  }

  /** Resolves as soon as no call is pending. */
  idle(): Promise<void> {
    if (this.#pending.size === 0) return Promise.resolve()
    return new Promise(resolve => {
      this.#onIdle = resolve
    })
  }

  #forget(id: number): boolean {
    const wasPending = this.#pending.delete(id)
    if (this.#onIdle && this.#pending.size === 0) this.#onIdle()
    return wasPending
  }

  /**
   * Sends a request, or defers it to the next turn if this one has sent enough. Throws, or rejects the call, if it cannot be
   * serialized or sent. Returns the id to cancel it by.
   */
  begin(method: string, given: object, call: PendingCall): number {
    const id = this.#nextId++
    if (this.#waiting.size === 0 && !this.#events.hasEnough()) this.#send(id, { method, params: given }, call)
    else this.#sendLater(id, () => this.#send(id, { method, params: given }, call))
    this.#pending.set(id, call)
    return id
  }

  #sendLater(id: number, send: () => void): void {
    if (this.#waiting.size === 0)
      setImmediate(() => void inSlices(this.#waiting, each => this.#sendNext(...each)))
    this.#waiting.set(id, send)
  }

  #sendNext(id: number, send: () => void): void {
    try {
      if (this.#pending.has(id)) send()
    } catch (error) {
      this.fail(error as Error, id)
    }
    this.#waiting.delete(id)
  }

  #send(id: number, { method, params: given }: { method: string; params: object }, call: PendingCall): void {
    const shared = call.meta ? { ...call.meta, ...this.#meta } : this.#meta
    const meta = call.onProgress ? { ...shared, progressToken: id } : shared
    const params = meta ? { ...given, _meta: meta } : given
    if (this.#events.isStuck() || !this.#events.send({ jsonrpc: '2.0', id, method, params }))
      throw new ServerLostError('the server has stopped reading its stdin', { neverSent: true })
  }

  /** Sends a request; resolves to its result. Rejects with the signal's reason if it is aborted. */
  async request(method: string, params: object, { from, signal }: LinkRequestOptions): Promise<unknown> {
    signal?.throwIfAborted()
    let stop = () => {}
    const result = new Promise((resolve, reject) => {
      const id = this.begin(method, params, { resolve, reject, from, isAside: true })
      const giveUp = () => {
        this.cancel(id, 'The caller gave up')
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', giveUp)
      stop = () => signal?.removeEventListener('abort', giveUp)
    })
    return result.finally(stop)
  }

  /** The caller gave up: notifies the server, and leaves the call unsettled. */
  cancel(id: number, reason: string): void {
    if (!this.#forget(id) || this.#waiting.delete(id)) return
    this.#cancelled.add(id)
    if (this.#cancelled.size > REMEMBERED_CALLS)
      this.#cancelled.delete(this.#cancelled.values().next().value as number)
    const params = this.#meta ? { requestId: id, reason, _meta: this.#meta } : { requestId: id, reason }
    this.#events.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params })
  }

  /** The caller of all pending requests, if there is only one. */
  get requester(): Requester | undefined {
    if (this.#pending.size > MAX_LOOKED_AT) return undefined
    return soleRequester([...this.#pending.values()].map(({ from }) => from))
  }

  /** Handles a message if it belongs to a call; returns whether it did. */
  receive(message: Record<string, unknown>): boolean {
    if ('method' in message)
      return message.method === 'notifications/progress' && this.#progress(message.params)
    const id = typeof message.id === 'string' ? Number(message.id) : message.id
    if (typeof id !== 'number' || !(id >= FIRST_ID)) return false
    const call = this.#pending.get(id)
    if (call) this.#answer(id, call, message)
    else this.#stray(message, this.#cancelled.delete(id))
    return true
  }

  #stray({ id, result }: Record<string, unknown>, isLate: boolean): void {
    this.#events.stray(id, isLate)
    if (isLate) this.#events.late?.(result)
  }

  #answer(id: number, call: PendingCall, message: Record<string, unknown>): void {
    this.#forget(id)
    if (!call.isAside) this.#answered++
    if ('error' in message && message.error !== undefined) call.reject(refusalOf(message.error))
    else call.resolve(message.result)
  }

  #progress(params: unknown): boolean {
    const { progressToken, progress, total, message } = isRecord(params) ? params : {}
    const call = this.#pending.get(Number(progressToken))
    if (!call) return this.#cancelled.has(Number(progressToken))
    if (typeof progress !== 'number') return true
    call.onProgress?.({
      progress,
      ...(typeof total === 'number' && { total }),
      ...(typeof message === 'string' && { message }),
    })
    return true
  }

  /** Fails the call with this id, or all calls without one. Returns how many there were. */
  fail(error: Error, id?: number): number {
    const calls = id === undefined ? [...this.#pending] : this.#callOf(id)
    for (const [each, call] of calls) {
      this.#forget(each)
      const neverSent = this.#waiting.delete(each) && error instanceof ServerLostError
      call.reject(neverSent ? new ServerLostError(error.message, { neverSent }) : error)
    }
    return calls.length
  }

  #callOf(id: number): [number, PendingCall][] {
    const call = this.#pending.get(id)
    return call ? [[id, call]] : []
  }
}
