import type { Progress, ToolResult } from 'toolpost'
import type { Run } from 'toolpost/project'
import { type RunRow, resultOf, runOf, type Store, unavailable } from './store.ts'

const TOGETHER_MS = 50
const MAX_TOGETHER = 200
const MAX_PROGRESS = 1_000

/** Callers waiting for runs to end, wherever they run, and listeners to their changes. One query reads many. */
export class Waiters {
  readonly #store: Store
  readonly #tell: (run: Run) => void
  readonly #waiting = new Map<string, { tool: string; resolves: Set<(result: ToolResult) => void> }>()
  readonly #followers = new Map<string, (progress: Progress) => void>()
  readonly #progress = new Map<string, Progress>()
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
    const waiting = this.#waiting.get(id) ?? { tool, resolves: new Set() }
    this.#waiting.set(id, waiting)
    if (onProgress) this.#followers.set(id, onProgress)
    return new Promise(resolve => waiting.resolves.add(resolve))
  }

  /** Answers everybody who waits for a run. */
  settle(id: string, result: ToolResult): void {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    this.#followers.delete(id)
    this.#progress.delete(id)
    for (const resolve of waiting?.resolves ?? []) resolve(result)
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

  noteProgress(id: string, progress: Progress): void {
    this.#followers.get(id)?.(progress)
    this.#progress.set(id, progress)
    const [oldest] = this.#progress.keys()
    if (this.#progress.size > MAX_PROGRESS && oldest !== undefined) this.#progress.delete(oldest)
    this.noteChange(id)
  }

  /** Tells the listeners of a changed run, and those who wait for it, a moment later: changes often come together. */
  noteChange(id: string): void {
    if (this.#changed.size < MAX_TOGETHER) this.#changed.add(id)
    this.#timer ??= setTimeout(() => void this.#tellAll(), TOGETHER_MS)
  }

  shown(row: RunRow): Run {
    const progress = row.state === 'running' ? this.#progress.get(row.id) : undefined
    return { ...runOf(row), ...(progress && { progress }) }
  }

  /** Answers everybody that their runs go on. */
  close(): void {
    clearTimeout(this.#timer)
    const text = 'this process is shutting down; the run continues'
    for (const [id, { tool }] of this.#waiting) this.settle(id, unavailable(tool, text, id))
  }

  async #tellAll(): Promise<void> {
    const ids = [...this.#changed]
    this.#changed.clear()
    this.#timer = undefined
    // If the database is gone there is nothing to report; changes show when they are asked for.
    for (const row of await this.#store.read(ids).catch(() => [])) this.#tell(this.shown(row))
  }
}
