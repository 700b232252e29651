import type { Progress, ToolResult } from 'toolpost'
import type { Run } from 'toolpost/project'
import { type RunRow, resultOf, runOf, type Store, unavailable } from './store.ts'

/** Changes often come together. */
const TOGETHER_MS = 10

interface Waiter {
  tool: string
  resolve(result: ToolResult): void
  onProgress?: ((progress: Progress) => void) | undefined
}

/** Callers waiting for runs to end, wherever they run, and listeners to their changes. One query reads many. */
export class Waiters {
  readonly #store: Store
  readonly #tell: (run: Run) => void
  readonly #waiting = new Map<string, Waiter[]>()
  readonly #changed = new Set<string>()
  #timer: NodeJS.Timeout | undefined

  constructor(store: Store, tell: (run: Run) => void) {
    this.#store = store
    this.#tell = tell
  }

  get ids(): string[] {
    return [...this.#waiting.keys()]
  }

  /** Resolves when the run has ended. */
  wait({ id, tool }: RunRow, onProgress?: (progress: Progress) => void): Promise<ToolResult> {
    const others = this.#waiting.get(id) ?? []
    return new Promise(resolve => this.#waiting.set(id, [...others, { tool, resolve, onProgress }]))
  }

  /** Answers everybody who waits for a run. */
  settle(id: string, result: ToolResult): void {
    const waiting = this.#waiting.get(id) ?? []
    this.#waiting.delete(id)
    for (const { resolve } of waiting) resolve(result)
  }

  /** Answers those whose runs have ended. */
  async look(ids: readonly string[]): Promise<RunRow[]> {
    const rows = ids.length > 0 ? await this.#store.read(ids) : []
    for (const row of rows) {
      const result = row.ended_at && resultOf(row)
      if (result) this.settle(row.id, result)
    }
    return rows
  }

  /** Tells a changed run to those who wait for it and to the listeners. */
  note(id: string): void {
    this.#changed.add(id)
    this.#timer ??= setTimeout(async () => {
      const ids = [...this.#changed]
      this.#changed.clear()
      this.#timer = undefined
      // If the database is gone there is nothing to report; changes show when they are asked for.
      for (const row of await this.look(ids).catch(() => [])) {
        const { progress } = runOf(row)
        for (const { onProgress } of this.#waiting.get(row.id) ?? []) if (progress) onProgress?.(progress)
        this.#tell(runOf(row))
      }
    }, TOGETHER_MS)
  }

  /** Answers everybody that their runs go on. */
  close(): void {
    clearTimeout(this.#timer)
    const text = 'this process is shutting down; the run continues'
    for (const [id, [first]] of this.#waiting) this.settle(id, unavailable(first?.tool ?? '', text, id))
  }
}
