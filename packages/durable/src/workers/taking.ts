import type { Claims } from '../engine/claims.ts'
import { poolOf } from './queues.ts'
import type { Roster } from './roster.ts'

/** A run that has not started this long after it was taken never will. */
const BEGINS_WITHIN_MS = 10_000

interface TakingOptions {
  roster: Roster
  pool: string
  /** How many runs may be in progress at once; 0 to take none. */
  concurrency: number
  /** How long accepted runs wait for a worker with their tool to come back. */
  desertedMs: number
  running(): number
  isOpen(): boolean
  onEnded(id: string): void
}

/** Which runs this process takes from the queues, and when it looks. */
export class Taking implements Claims {
  readonly #options: TakingOptions
  readonly #announced = new Set<string>()
  /** All queues, since DBOS polls each of them. */
  readonly #known = new Set<string>()
  readonly #begun = new Map<string, number>()
  readonly #deserted = new Map<string, number>()
  #own = new Set<string>()

  constructor(options: TakingOptions) {
    this.#options = options
  }

  /** Sets the tools whose runs this process takes. */
  offer(tools: Iterable<string>): void {
    this.#own = new Set(tools)
  }

  /** Something may be waiting there. */
  announce(queue: string): void {
    this.#announced.add(queue)
  }

  /** A notice may have been lost. */
  announceAll(): void {
    for (const queue of this.#known) this.#announced.add(queue)
  }

  isOwn(pool: string, tool: string): boolean {
    return pool === this.#options.pool && this.#own.has(tool)
  }

  began(id: string): void {
    this.#begun.delete(id)
  }

  mayTake(queue: string): boolean {
    this.#known.add(queue)
    if (!this.#options.isOpen() || !this.#announced.has(queue) || this.room() <= 0) return false
    // Before the query: what is announced during it triggers another one.
    this.#announced.delete(queue)
    return true
  }

  takeable(queue: string, tools: readonly string[]): string[] {
    const pool = poolOf(queue)
    const takeable = tools.filter(
      tool => (this.#options.concurrency > 0 && this.isOwn(pool, tool)) || this.#isDeserted(pool, tool),
    )
    // Keep looking until nothing is waiting: some may have to wait for room.
    if (takeable.length > 0) this.announce(queue)
    return takeable
  }

  room(): number {
    const now = performance.now()
    for (const [id, takenAt] of this.#begun) if (now - takenAt > BEGINS_WITHIN_MS) this.#begun.delete(id)
    // A process that takes no runs still ends the deserted ones.
    return Math.max(this.#options.concurrency, 1) - this.#options.running() - this.#begun.size
  }

  taken(ids: readonly string[]): void {
    for (const id of ids) this.#begun.set(id, performance.now())
  }

  ended(id: string): void {
    this.#options.onEnded(id)
  }

  /** Whether no live worker has had the tool for so long that any process may end its runs. */
  #isDeserted(pool: string, tool: string): boolean {
    const key = `${pool}\n${tool}`
    if (this.#options.roster.isServed(pool, tool)) {
      this.#deserted.delete(key)
      return false
    }
    const since = this.#deserted.get(key) ?? performance.now()
    this.#deserted.set(key, since)
    return performance.now() - since > this.#options.desertedMs
  }
}
