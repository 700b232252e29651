import type { Progress } from 'toolpost'
import type { Run } from 'toolpost/project'

const TOGETHER_MS = 50
const MAX_TOGETHER = 200
const MAX_FOLLOWED = 1_000

interface RunChangesOptions {
  read(ids: string[]): Promise<Run[]>
  isWatched(): boolean
  tell(run: Run): void
}

/** Reports changed runs, in batches, and their progress. */
export class RunChanges {
  readonly #options: RunChangesOptions
  readonly #changed = new Set<string>()
  readonly #progress = new Map<string, Progress>()
  readonly #followers = new Map<string, Set<(progress: Progress) => void>>()
  #timer: NodeJS.Timeout | undefined

  constructor(options: RunChangesOptions) {
    this.#options = options
  }

  noteChange(id: string): void {
    if (!this.#options.isWatched()) return
    if (this.#changed.size < MAX_TOGETHER) this.#changed.add(id)
    this.#timer ??= setTimeout(() => void this.#tellAll(), TOGETHER_MS)
  }

  noteProgress(id: string, progress: Progress): void {
    for (const follower of this.#followers.get(id) ?? []) follower(progress)
    this.#progress.delete(id)
    this.#progress.set(id, progress)
    const [oldest] = this.#progress.keys()
    if (this.#progress.size > MAX_FOLLOWED && oldest !== undefined) this.#progress.delete(oldest)
    this.noteChange(id)
  }

  /** Passes `follower` the progress of a run executed by another process; returns a function that stops it. */
  follow(id: string, follower: (progress: Progress) => void): () => void {
    const followers = this.#followers.get(id) ?? new Set()
    this.#followers.set(id, followers.add(follower))
    return () => {
      followers.delete(follower)
      if (followers.size === 0) this.#followers.delete(id)
    }
  }

  withProgress(run: Run): Run {
    const progress = run.state === 'running' ? this.#progress.get(run.id) : undefined
    return progress ? { ...run, progress } : run
  }

  close(): void {
    clearTimeout(this.#timer)
  }

  async #tellAll(): Promise<void> {
    const ids = [...this.#changed]
    this.#changed.clear()
    // If the database is gone there is nothing to report; changes show when they are asked for.
    const runs = await this.#options.read(ids).catch(() => [])
    for (const run of runs) this.#options.tell(this.withProgress(run))
    this.#timer = this.#changed.size > 0 ? setTimeout(() => void this.#tellAll(), TOGETHER_MS) : undefined
  }
}
