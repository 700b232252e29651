/** One owner's work, waiting for its turn. */
type Waiting = (() => void)[]

/** New connections accepted before the next piece of work runs, so that a steady stream cannot starve it. */
const MAX_NEWCOMERS = 256

/**
 * Schedules pieces of work of a millisecond or more: one per turn of the event loop, round-robin among their owners.
 * However many are queued, nothing else has to wait for them.
 */
export class Turns {
  /** By owner; the next one comes first. */
  readonly #waiting = new Map<unknown, Waiting>()
  #isTaken = false
  #hasNewcomer = false
  #newcomers = 0

  /** Resolves in a later turn, which is the caller's alone. All work of one `whose` shares one place in the rotation. */
  next(whose: unknown = {}): Promise<void> {
    return new Promise(resolve => {
      const line = this.#waiting.get(whose)
      if (line) line.push(resolve)
      else this.#waiting.set(whose, [resolve])
      this.#take()
    })
  }

  /** Like `next`, but returns `undefined` if this turn is still free and now the caller's. */
  enter(whose?: unknown): Promise<void> | undefined {
    if (this.#isTaken || this.#hasNewcomer) return this.next(whose)
    this.#take()
    return undefined
  }

  /**
   * Call on every accepted connection. libuv accepts one per turn of the event loop, so each queued connection would
   * wait for a piece of work: the next piece is postponed until a turn brings no connection.
   */
  welcome(): void {
    this.#hasNewcomer = true
  }

  #take(): void {
    if (this.#isTaken) return
    this.#isTaken = true
    setImmediate(() => this.#end())
  }

  #end(): void {
    if (this.#hasNewcomer && this.#newcomers++ < MAX_NEWCOMERS) {
      this.#hasNewcomer = false
      setImmediate(() => this.#end())
      return
    }
    this.#newcomers = 0
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

/** Shared by the whole program. */
const turns = new Turns()
export const nextTurn = (whose?: unknown): Promise<void> => turns.next(whose)
export const welcome = (): void => turns.welcome()
export const myTurn = (whose?: unknown): Promise<void> | undefined => turns.enter(whose)
