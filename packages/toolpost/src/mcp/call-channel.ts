import { isRecord } from '../runtime/guards.ts'
import { inSlices } from '../runtime/slices.ts'
import type { Progress } from '../tools/tool.ts'
import { refusalOf } from './call-result.ts'
import { REMEMBERED_CALLS } from './limits.ts'
import { ServerLostError } from './server-failure.ts'
import { type LinkRequestOptions, type Requester, soleRequester } from './server-link.ts'

/** A request that is on its way to a server. */
export interface PendingCall {
  resolve(result: unknown): void
  reject(error: Error): void
  onProgress?: ((progress: Progress) => void) | undefined
  meta?: Readonly<Record<string, unknown>> | undefined
  from?: Requester | undefined
  /** Not a call of a tool: that it is answered does not show that the server is of use. */
  isAside?: boolean
}

export interface ChannelEvents {
  /** Whether the server does not read what is sent to it: then no call is even made ready to be sent. */
  isStuck(): boolean
  /** Whether further calls should wait for the next turn of the event loop: writing them all down would hold it up. */
  hasEnough(): boolean
  /** `false`, and nothing is sent, if the server does not read what is sent to it. */
  send(message: object): boolean
  /** An answer that belongs to no call under way: late, repeated, or to a call that was never made. */
  stray(id: unknown, isLate: boolean): void
  /** The result of a call that was cancelled before it came. */
  late?(result: unknown): void
}

/** The SDK counts its own requests from 0, and makes few of them. */
const FIRST_ID = 1_000_000
/** Of more requests at once it is not looked at whose they are. */
const MAX_LOOKED_AT = 1_000

/**
 * The requests of one stdio connection after its handshake. They go past the SDK's request machinery, which would cost
 * a timer, an AbortSignal and two schema checks a call, and would lose a progress notice that arrives together
 * with its answer. Everything else of the protocol stays with the SDK.
 */
export class CallChannel {
  readonly #events: ChannelEvents
  /** What every request carries in `_meta`: the newest protocol has no session that would know it. */
  readonly #meta: Record<string, unknown> | undefined
  readonly #pending = new Map<number, PendingCall>()
  /** Calls that wait for the next turn, and how they are sent then. */
  readonly #waiting = new Map<number, () => void>()
  readonly #cancelled = new Set<number>()
  #nextId = FIRST_ID
  #answered = 0
  #onIdle: (() => void) | undefined

  constructor(events: ChannelEvents, meta?: Record<string, unknown>) {
    this.#events = events
    this.#meta = meta
  }

  /** How many requests were answered that somebody made, beside our own. */
  get answered(): number {
    return this.#answered
  }

  /** Resolves as soon as no call is under way. */
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
   * Sends a request, or takes it up for the next turn if this one has sent enough. Throws, or rejects it, if it is not
   * JSON or cannot be sent. Gives the id that it is cancelled by.
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

  /** Sends a request; resolves to its result. Rejects with the reason of the signal if that aborts. */
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

  /** The caller gave up: tells the server, and leaves the call without an answer. */
  cancel(id: number, reason: string): void {
    if (!this.#forget(id) || this.#waiting.delete(id)) return
    this.#cancelled.add(id)
    if (this.#cancelled.size > REMEMBERED_CALLS)
      this.#cancelled.delete(this.#cancelled.values().next().value as number)
    const params = this.#meta ? { requestId: id, reason, _meta: this.#meta } : { requestId: id, reason }
    this.#events.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params })
  }

  /** Whose requests are under way, if they are all of one caller. */
  get requester(): Requester | undefined {
    if (this.#pending.size > MAX_LOOKED_AT) return undefined
    return soleRequester([...this.#pending.values()].map(({ from }) => from))
  }

  /** Takes a message if it belongs to a call; says whether it did. */
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

  /** Fails the call of that id, or all if it is not given. Says how many there were. */
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
