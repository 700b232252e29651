/** A call that waits for a child or is at work in one. */
export interface PooledCall {
  readonly args: unknown
  /** Who asked; calls of nobody in particular count as those of one caller. */
  readonly caller: string | undefined
  resolve(value: unknown): void
  reject(error: Error): void
}

/** Calls that wait for their turn: each caller's in order, and the callers one after the other. */
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

  /** Takes the first call of the first caller who may have a turn; that caller comes last the next time. */
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

  /** Empties it. */
  takeAll(): PooledCall[] {
    const calls = [...this.#callers.values()].flatMap(waiting => [...waiting])
    this.#callers.clear()
    return calls
  }
}
