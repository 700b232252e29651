import { availableParallelism } from 'node:os'
import { abortError } from './child-death.ts'
import { type ChildEvents, type ChildSpec, IsolatedChild } from './isolated-child.ts'
import { type PooledCall, WaitingCalls } from './waiting-calls.ts'

export interface PoolOptions {
  /** How many calls of one caller run at the same time; twice as many for all callers together. */
  maxChildren: number
  /** A child that has been idle this long is ended, unless it is the only idle one. */
  idleMs: number
}

/** Delay before the standby starts: a program that makes one quick call has exited by then and never pays for it. */
const standbyAfterMs = 20

/** Starting more at the same time only slows them all down. */
const maxLoading = Math.max(2, availableParallelism())

/**
 * Assigns calls to children, starts children as needed and ends idle ones. A call first gets a slot, round-robin by
 * caller, and then the next child. After the first call, one extra child stands by, so that neither the call after a
 * killed one nor the first call of another caller has to wait.
 */
export class ChildPool {
  readonly #spec: ChildSpec
  readonly #options: PoolOptions
  readonly #waiting = new WaitingCalls()
  /** Calls that have a slot and wait for a child. */
  readonly #placed = new Set<PooledCall>()
  readonly #working = new Map<IsolatedChild, PooledCall>()
  readonly #children = new Set<IsolatedChild>()
  readonly #ending = new Set<IsolatedChild>()
  #standbyTimer: NodeJS.Timeout | undefined
  /** Starts the next child, if one is needed. */
  #nextStart: NodeJS.Immediate | undefined
  #wantsStandby = false
  readonly #events: ChildEvents = {
    ready: child => this.#becameIdle(child),
    returned: (child, value) => {
      this.#take(child)?.resolve(value)
      this.#becameIdle(child)
    },
    threw: (child, error) => {
      this.#take(child)?.reject(error)
      this.#becameIdle(child)
    },
    // Rejects all of them: the next child would fail the same way, in an endless loop of starts.
    unusable: (child, error) => {
      this.#forget(child)
      this.#rejectWaiting(error)
    },
    died: (child, error) => {
      const call = this.#forget(child)
      call?.reject(error)
      // A child that dies while idle is not replaced: the next would die too.
      if (call) this.#standBy()
    },
  }

  constructor(spec: ChildSpec, options: PoolOptions) {
    this.#spec = spec
    this.#options = options
  }

  get children(): readonly IsolatedChild[] {
    return [...this.#children]
  }

  submit(call: PooledCall): void {
    this.#waiting.add(call)
    this.#dispatch()
  }

  /** Rejects the call; if it is running, its child is killed. Does nothing if the call was already answered. */
  abort(call: PooledCall): void {
    this.#waiting.delete(call)
    this.#placed.delete(call)
    call.reject(abortError(this.#spec.name))
    const child = this.children.find(candidate => this.#working.get(candidate) === call)
    if (child) this.#kill(child)
    if (child) this.#standBy()
    else this.#dispatch()
  }

  /** Kills all children and rejects all calls; resolves when the processes are gone. */
  async close(): Promise<void> {
    clearTimeout(this.#standbyTimer)
    clearImmediate(this.#nextStart)
    this.#standbyTimer = undefined
    this.#nextStart = undefined
    const error = abortError(this.#spec.name)
    this.#rejectWaiting(error)
    for (const call of this.#working.values()) call.reject(error)
    for (const child of this.#children) this.#kill(child)
    await Promise.all([...this.#ending].map(child => child.gone))
  }

  /** Reconciles calls, children and whether they keep the parent alive. Runs after every change. */
  #dispatch(): void {
    this.#giveOutPlaces()
    for (const child of this.#in('idle')) {
      const call = this.#nextCall()
      if (call && child.state === 'idle') this.#assign(child, call)
    }
    if (this.#isShort()) this.#nextStart ??= setImmediate(() => this.#startOne())
    const held = !this.#waiting.isEmpty || this.#placed.size + this.#working.size > 0
    for (const child of this.#children) child.hold(held)
  }

  #giveOutPlaces(): void {
    for (;;) {
      const call = this.#waiting.take(caller => this.#mayHavePlace(caller))
      if (!call) return
      this.#placed.add(call)
    }
  }

  /** Nobody gets more slots than are left for others: one caller with endless calls can have half of them. */
  #mayHavePlace(caller: string | undefined): boolean {
    const taken = [...this.#placed, ...this.#working.values()]
    const own = taken.filter(call => call.caller === caller).length
    return 2 * this.#options.maxChildren - taken.length > own
  }

  /**
   * Of the calls with a slot, the first one of the caller with the fewest running. A caller that already has one running
   * leaves the last idle child to the others; another is started.
   */
  #nextCall(): PooledCall | undefined {
    const atWork = ({ caller }: PooledCall) =>
      [...this.#working.values()].filter(call => call.caller === caller).length
    const [next] = [...this.#placed].sort((a, b) => atWork(a) - atWork(b))
    return next && atWork(next) > 0 && this.#in('idle').length === 1 ? undefined : next
  }

  #assign(child: IsolatedChild, call: PooledCall): void {
    this.#placed.delete(call)
    try {
      child.call(call.args)
    } catch (cause) {
      call.reject(new Error(`The arguments of ${this.#spec.name} cannot be serialized: ${cause}`, { cause }))
      return this.#dispatch()
    }
    this.#working.set(child, call)
    this.#standbyTimer ??= setTimeout(() => this.#standBy(), standbyAfterMs).unref()
  }

  /** Ensures that there is one child more than running calls, and at least two. */
  #standBy(): void {
    clearTimeout(this.#standbyTimer)
    this.#standbyTimer = undefined
    this.#wantsStandby = true
    this.#dispatch()
  }

  #isShort(): boolean {
    this.#wantsStandby &&= this.#children.size < Math.max(this.#working.size, 1) + 1
    return this.#wantsStandby || this.#in('loading').length < Math.min(this.#placed.size, maxLoading)
  }

  /** One per turn: forking blocks the event loop for ten milliseconds or more. */
  #startOne(): void {
    this.#nextStart = undefined
    if (this.#isShort()) this.#start()
    this.#dispatch()
  }

  #start(): void {
    try {
      this.#children.add(new IsolatedChild(this.#spec, this.#events))
    } catch (error) {
      this.#wantsStandby = false
      this.#rejectWaiting(error as Error)
    }
  }

  #becameIdle(child: IsolatedChild): void {
    // Its low priority would slow down short calls too.
    if (child.isLowered) {
      this.#kill(child)
      return this.#standBy()
    }
    child.whenStill(this.#options.idleMs, () => this.#retire(child))
    this.#dispatch()
  }

  #retire(child: IsolatedChild): void {
    if (this.#in('idle').length > 1) this.#kill(child)
  }

  #kill(child: IsolatedChild): void {
    child.kill()
    this.#forget(child)
  }

  /** Drops a child that ended and returns its call. */
  #forget(child: IsolatedChild): PooledCall | undefined {
    this.#children.delete(child)
    this.#ending.add(child)
    child.gone.then(() => this.#ending.delete(child))
    return this.#take(child)
  }

  #take(child: IsolatedChild): PooledCall | undefined {
    const call = this.#working.get(child)
    this.#working.delete(child)
    return call
  }

  #rejectWaiting(error: Error): void {
    for (const call of [...this.#placed, ...this.#waiting.takeAll()]) call.reject(error)
    this.#placed.clear()
  }

  #in(state: IsolatedChild['state']): IsolatedChild[] {
    return this.children.filter(child => child.state === state)
  }
}
