import type { Pool } from 'pg'
import type { ToolResult } from 'toolpost'
import { readEnded } from './run-rows.ts'

type Settle = (result: ToolResult) => void

/** Those who wait for the end of runs, wherever they run. One query looks for all of them. */
export class Ends {
  readonly #pool: Pool
  readonly #waiting = new Map<string, Set<Settle>>()
  readonly #announced = new Set<string>()
  #isReading = false

  constructor(pool: Pool) {
    this.#pool = pool
  }

  /** Resolves when the run has ended; `giveUp` stops waiting. */
  wait(id: string): { result: Promise<ToolResult>; giveUp(): void } {
    const settlers = this.#waiting.get(id) ?? new Set()
    this.#waiting.set(id, settlers)
    let settle: Settle = () => {}
    const result = new Promise<ToolResult>(resolve => {
      settle = resolve
    })
    settlers.add(settle)
    return {
      result,
      giveUp: () => {
        settlers.delete(settle)
        if (settlers.size === 0 && this.#waiting.get(id) === settlers) this.#waiting.delete(id)
      },
    }
  }

  /** Told that a run has ended. */
  announce(id: string): void {
    if (!this.#waiting.has(id)) return
    this.#announced.add(id)
    void this.#read()
  }

  /** Looks for all that are waited for, in case that a notice was lost. */
  lookForAll(): void {
    for (const id of this.#waiting.keys()) this.#announced.add(id)
    void this.#read()
  }

  /** The result of a run that has ended. */
  async read(id: string): Promise<ToolResult | undefined> {
    return (await readEnded(this.#pool, [id])).get(id)
  }

  async #read(): Promise<void> {
    if (this.#isReading) return
    this.#isReading = true
    while (this.#announced.size > 0) {
      const ids = [...this.#announced]
      this.#announced.clear()
      // The next look finds them, once the database is back.
      const ended = await readEnded(this.#pool, ids).catch(() => new Map<string, ToolResult>())
      for (const [id, result] of ended) this.#settle(id, result)
    }
    this.#isReading = false
  }

  #settle(id: string, result: ToolResult): void {
    const settlers = this.#waiting.get(id)
    this.#waiting.delete(id)
    for (const settle of settlers ?? []) settle(result)
  }
}
