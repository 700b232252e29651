import type { Pool } from 'pg'
import type { ToolResult } from 'toolpost'
import { unavailable } from './kept-result.ts'
import { readEnded } from './run-rows.ts'

interface Waiter {
  tool: string
  settle(result: ToolResult): void
}

/** Callers waiting for runs to end, wherever they run. One query checks all of them. */
export class Ends {
  readonly #pool: Pool
  readonly #waiting = new Map<string, Set<Waiter>>()
  readonly #announced = new Set<string>()
  #isReading = false
  #isClosed = false

  constructor(pool: Pool) {
    this.#pool = pool
  }

  /** Resolves when the run has ended; `giveUp` stops waiting. */
  wait(id: string, tool: string): { result: Promise<ToolResult>; giveUp(): void } {
    if (this.#isClosed) return { result: Promise.resolve(goesOn(tool, id)), giveUp: () => {} }
    const waiters = this.#waiting.get(id) ?? new Set()
    this.#waiting.set(id, waiters)
    const waiter: Waiter = { tool, settle: () => {} }
    const result = new Promise<ToolResult>(resolve => {
      waiter.settle = resolve
    })
    waiters.add(waiter)
    return {
      result,
      giveUp: () => {
        waiters.delete(waiter)
        if (waiters.size === 0 && this.#waiting.get(id) === waiters) this.#waiting.delete(id)
      },
    }
  }

  /** From now on this process learns of no more ends. */
  close(): void {
    this.#isClosed = true
    for (const [id, waiters] of this.#waiting)
      for (const { tool, settle } of waiters) settle(goesOn(tool, id))
    this.#waiting.clear()
  }

  /** A run has ended, according to a notice. */
  announce(id: string): void {
    if (!this.#waiting.has(id)) return
    this.#announced.add(id)
    void this.#read()
  }

  /** Checks all awaited runs, in case a notice was lost. */
  lookForAll(): void {
    for (const id of this.#waiting.keys()) this.#announced.add(id)
    void this.#read()
  }

  /** The result of a run; `undefined` if it has not ended. */
  async read(id: string): Promise<ToolResult | undefined> {
    return (await readEnded(this.#pool, [id])).get(id)
  }

  async #read(): Promise<void> {
    if (this.#isReading) return
    this.#isReading = true
    while (this.#announced.size > 0) {
      const ids = [...this.#announced]
      this.#announced.clear()
      // The next check finds them, once the database is back.
      const ended = await readEnded(this.#pool, ids).catch(() => new Map<string, ToolResult>())
      for (const [id, result] of ended) this.#settle(id, result)
    }
    this.#isReading = false
  }

  #settle(id: string, result: ToolResult): void {
    const waiters = this.#waiting.get(id)
    this.#waiting.delete(id)
    for (const { settle } of waiters ?? []) settle(result)
  }
}

function goesOn(tool: string, id: string): ToolResult {
  return unavailable(tool, 'this process is shutting down; the run continues', id)
}
