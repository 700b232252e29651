import { availableParallelism } from 'node:os'
import { abortError } from './child-death.ts'
import { type ChildEvents, type ChildSpec, IsolatedChild } from './isolated-child.ts'
import { type PooledCall, WaitingCalls } from './waiting-calls.ts'

export interface PoolOptions {
  /** How many calls of one caller are at work at the same time; of all callers together, twice as many. */
  maxChildren: number
  /** A child that was idle for so long ends, unless it is the only idle one. */
  idleMs: number
}

/** The standby starts so long after a call: a program that makes one quick call is over before and never pays. */
const standbyAfterMs = 20

/** More that start at the same time only hold each other up. */
const maxLoading = Math.max(2, availableParallelism())

/**
 * Gives calls to children, starts children as they are needed and ends those that are not. A call first gets a
 * place, caller by caller in turn, and then the next child. Once there was a call, one more child stands by, so that
 * neither the call after a killed one nor the first call of another caller has to wait.
 */
export class ChildPool {
  readonly #spec: ChildSpec
  readonly #options: PoolOptions
  readonly #waiting = new WaitingCalls()
  /** Calls that have a place and wait for their child. */
  readonly #placed = new Set<PooledCall>()
  readonly #working = new Map<IsolatedChild, PooledCall>()
  readonly #children = new Set<IsolatedChild>()
  readonly #ending = new Set<IsolatedChild>()
  #standbyTimer: NodeJS.Timeout | undefined
  /** The turn in which the next child is started, if one is wanted. */
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
    // All of them, because the next child would fail alike: no loop of starts.
    unusable: (child, error) => {
      this.#forget(child)
      this.#rejectWaiting(error)
    },
    died: (child, error) => {
      const call = this.#forget(child)
      call?.reject(error)
      // One that dies with nothing to do is not replaced: it would die again.
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

  /** Rejects the call; if it is at work, its child is killed. Nothing happens to a call that was answered. */
  abort(call: PooledCall): void {
    this.#waiting.delete(call)
    this.#placed.delete(call)
    call.reject(abortError(this.#spec.name))
    const child = this.children.find(candidate => this.#working.get(candidate) === call)
    if (child) this.#kill(child)
    if (child) this.#standBy()
    else this.#dispatch()
  }

  /** Ends all children and rejects all calls; resolves when the processes are gone. */
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

  /** Brings calls, children and the parent's life in line. Runs after every change. */
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

  /** Nobody takes more places than are left for others: with endless calls one caller can have half of them. */
  #mayHavePlace(caller: string | undefined): boolean {
    const taken = [...this.#placed, ...this.#working.values()]
    const own = taken.filter(call => call.caller === caller).length
    return 2 * this.#options.maxChildren - taken.length > own
  }

  /**
   * Of the calls with a place, the first of the caller who has the fewest at work. Who has one already leaves the last
   * idle child to the others: another is started.
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
      call.reject(new Error(`The arguments of ${this.#spec.name} cannot be handed over: ${cause}`, { cause }))
      return this.#dispatch()
    }
    this.#working.set(child, call)
    this.#standbyTimer ??= setTimeout(() => this.#standBy(), standbyAfterMs).unref()
  }

  /** Sees to it that there is one child more than calls at work, and two at least. */
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

  /** One a turn: forking takes the event loop ten milliseconds and more. */
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
    // It would serve short calls as slowly as it may serve long ones.
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

  /** Drops a child that ended, and gives back the call that it had. */
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

  #in(...states: IsolatedChild['state'][]): IsolatedChild[] {
    return this.children.filter(child => states.includes(child.state))
  }
}
