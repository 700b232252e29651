/** The work of somebody that waits for its turn. */
type Waiting = (() => void)[]

/**
 * Pieces of work of a millisecond or more: one for each turn of the event loop, with everybody else in between, and in
 * turn among those who have some. However many wait, nobody beside them does.
 */
export class Turns {
  /** By whose they are; who is next comes first. */
  readonly #waiting = new Map<unknown, Waiting>()
  #isTaken = false

  /** Resolves in a later turn, which is the caller's alone. `whose` have one turn among them. */
  next(whose: unknown = {}): Promise<void> {
    return new Promise(resolve => {
      const line = this.#waiting.get(whose)
      if (line) line.push(resolve)
      else this.#waiting.set(whose, [resolve])
      this.#take()
    })
  }

  /** As `next`, but nothing if this turn is still free: then it is the caller's. */
  enter(whose?: unknown): Promise<void> | undefined {
    if (this.#isTaken) return this.next(whose)
    this.#take()
    return undefined
  }

  #take(): void {
    if (this.#isTaken) return
    this.#isTaken = true
    setImmediate(() => this.#end())
  }

  #end(): void {
    this.#isTaken = false
    const [first] = this.#waiting
    if (!first) return
    const [whose, line] = first
    this.#waiting.delete(whose)
    line.shift()?.()
    if (line.length > 0) this.#waiting.set(whose, line)
    this.#take()
  }
}

/** Those of the whole program. */
const turns = new Turns()
export const nextTurn = (whose?: unknown): Promise<void> => turns.next(whose)
export const myTurn = (whose?: unknown): Promise<void> | undefined => turns.enter(whose)
