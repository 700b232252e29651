import type { Clock, Logger } from 'toolpost'

/** The status of one part of the gateway; `text` is for people. */
export interface PartStatus {
  name: string
  state: 'starting' | 'ready' | 'missing'
  text: string
  durationMs: number
}

type Closable = { close(): Promise<void> }

/** Parts that start in parallel: none waits for another, and the start-up time of each is logged. */
export class Parts {
  readonly #logger: Logger
  readonly #clock: Clock
  readonly #onChange: () => void
  readonly #parts = new Map<string, PartStatus>()
  readonly #starting: Promise<void>[] = []
  readonly #closables: Closable[] = []
  isClosed = false

  /** `onChange` is called when a part is added or changed. */
  constructor(logger: Logger, clock: Clock, onChange = () => {}) {
    this.#logger = logger
    this.#clock = clock
    this.#onChange = onChange
  }

  /**
   * Starts a part. `start` resolves with a short description, or with undefined if the part is not used here; if it
   * rejects, the part is missing.
   */
  begin(name: string, start: () => Promise<string | undefined>): void {
    this.#set({ name, state: 'starting', text: 'still starting', durationMs: 0 })
    const startedAt = this.#clock.now()
    const settle = (state: PartStatus['state'], text: string) => {
      const durationMs = Math.round(this.#clock.now() - startedAt)
      this.#set({ name, state, text, durationMs })
      const fields = { part: name, is: text, duration_ms: durationMs }
      if (state === 'ready') this.#logger.info(fields, `${name} is ready`)
      else this.#logger.warn(fields, `${name} is unavailable`)
    }
    const starting = start().then(
      text => (text === undefined ? void this.#parts.delete(name) : settle('ready', text)),
      error => settle('missing', error instanceof Error ? error.message : String(error)),
    )
    this.#starting.push(starting)
  }

  /** Updates a part that has started. Returns whether anything changed. */
  change(name: string, state: PartStatus['state'], text: string): boolean {
    const part = this.#parts.get(name)
    if (!part || part.state === 'starting' || part.text === text) return false
    this.#set({ ...part, state, text })
    return true
  }

  /** Resolves when no part is still starting. Never rejects. */
  async settled(): Promise<{ parts: PartStatus[]; durationMs: number }> {
    await Promise.all(this.#starting)
    const parts = this.status()
    return { parts, durationMs: Math.max(...parts.map(({ durationMs }) => durationMs)) }
  }

  status(): PartStatus[] {
    return [...this.#parts.values()]
  }

  /** Something to be closed with the rest; at once, if that is already closed. */
  own<T extends Closable>(part: T): T {
    if (this.isClosed) void part.close().catch(() => {})
    else this.#closables.push(part)
    return part
  }

  /** Closes all of them in parallel. Never rejects. */
  async close(): Promise<void> {
    this.isClosed = true
    await Promise.allSettled(this.#closables.splice(0).map(part => part.close()))
  }

  #set(part: PartStatus): void {
    this.#parts.set(part.name, part)
    this.#onChange()
  }
}
