/** A call that is waiting for a child or running in one. */
export interface PooledCall {
  readonly args: unknown
  /** Calls without a caller count as those of one caller. */
  readonly caller: string | undefined
  resolve(value: unknown): void
  reject(error: Error): void
}

/** The queue: in order per caller, round-robin between callers. */
export class WaitingCalls {
  readonly #callers = new Map<string | undefined, Set<PooledCall>>()

  get isEmpty(): boolean {
    return this.#callers.size === 0
  }

  add(call: PooledCall): void {
    const calls = this.#callers.get(call.caller) ?? new Set()
    this.#callers.set(call.caller, calls.add(call))
  }

  delete(call: PooledCall): void {
    const calls = this.#callers.get(call.caller)
    calls?.delete(call)
    if (calls?.size === 0) this.#callers.delete(call.caller)
  }

  /** Takes the first call of the first caller that may run one; that caller then goes to the back of the queue. */
  take(mayTake: (caller: string | undefined) => boolean): PooledCall | undefined {
    for (const [caller, calls] of this.#callers) {
      const [call] = calls
      if (!call || !mayTake(caller)) continue
      this.#callers.delete(caller)
      if (calls.delete(call) && calls.size > 0) this.#callers.set(caller, calls)
      return call
    }
    return undefined
  }

  /** Empties the queue. */
  takeAll(): PooledCall[] {
    const calls = [...this.#callers.values()].flatMap(waiting => [...waiting])
    this.#callers.clear()
    return calls
  }
}
