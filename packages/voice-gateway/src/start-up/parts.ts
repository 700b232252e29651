import type { Clock, Logger } from 'toolpost'

/** The status of one part of the gateway; `text` is for people. */
export interface PartStatus {
  name: string
  state: 'starting' | 'ready' | 'missing'
  text: string
  durationMs: number
}

interface PartsOptions {
  logger: Logger
  clock: Clock
  /** Called when a part is added, removed or changed. */
  onChange?: (() => void) | undefined
}

/** Parts that start in parallel: none waits for another, and the start-up time of each is logged. */
export class Parts {
  readonly #options: PartsOptions
  readonly #startedAt: number
  readonly #parts = new Map<string, PartStatus>()
  readonly #starting: Promise<void>[] = []

  constructor(options: PartsOptions) {
    this.#options = options
    this.#startedAt = options.clock.now()
  }

  /**
   * Starts a part. `start` resolves with a short description, or with undefined if the part is not used here; if it
   * rejects, the part is missing.
   */
  begin(name: string, start: () => Promise<string | undefined>): void {
    this.#set({ name, state: 'starting', text: 'still starting', durationMs: 0 })
    const startedAt = this.#options.clock.now()
    const settle = (state: PartStatus['state'], text: string) => {
      const part = { name, state, text, durationMs: Math.round(this.#options.clock.now() - startedAt) }
      this.#set(part)
      this.#log(part)
    }
    this.#starting.push(
      Promise.resolve()
        .then(start)
        .then(
          text => (text === undefined ? void this.#parts.delete(name) : settle('ready', text)),
          error => settle('missing', error instanceof Error ? error.message : String(error)),
        ),
    )
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
    return { parts: this.status(), durationMs: Math.round(this.#options.clock.now() - this.#startedAt) }
  }

  status(): PartStatus[] {
    return [...this.#parts.values()]
  }

  #set(part: PartStatus): void {
    this.#parts.set(part.name, part)
    this.#options.onChange?.()
  }

  #log({ name, state, text, durationMs }: PartStatus): void {
    const { logger } = this.#options
    const fields = { part: name, is: text, duration_ms: durationMs }
    if (state === 'ready') logger.info(fields, `${name} is ready`)
    else logger.warn(fields, `${name} is unavailable`)
  }
}

interface Closable {
  close(): Promise<void>
}

/** What must be closed with the gateway, including parts added while it is closing. */
export class Closables {
  readonly #parts: Closable[] = []
  #isClosed = false

  get isClosed(): boolean {
    return this.#isClosed
  }

  add<T extends Closable>(part: T): T {
    if (this.#isClosed) void part.close().catch(() => {})
    else this.#parts.push(part)
    return part
  }

  /** Closes all of them in parallel. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.allSettled(this.#parts.splice(0).map(part => part.close()))
  }
}
