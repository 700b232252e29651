import type { Logger } from 'toolpost'
import type { DurableChange, DurableStatus } from 'toolpost/project'
import type { DatabaseProblem } from './database/database-problem.ts'

type Listener = (change: DurableChange) => void

/** The status of durable calls, and the listeners to changes. */
export class Standing {
  readonly #logger: Logger
  readonly #onNotice: ((text: string) => void) | undefined
  readonly #listeners = new Set<Listener>()
  /** Host and name of the database, without user and password. */
  place = 'PostgreSQL'
  status: DurableStatus = { state: 'starting', text: 'connecting to PostgreSQL' }

  constructor(logger: Logger, onNotice: ((text: string) => void) | undefined) {
    this.#logger = logger
    this.#onNotice = onNotice
  }

  get isWatched(): boolean {
    return this.#listeners.size > 0
  }

  listen(listener: Listener): () => void {
    const own: Listener = change => listener(change)
    this.#listeners.add(own)
    return () => void this.#listeners.delete(own)
  }

  /** A listener that throws does not affect the others. */
  tell(change: DurableChange): void {
    for (const listener of this.#listeners) {
      try {
        listener(change)
      } catch (error) {
        this.#logger.warn({ error: String(error) }, 'A listener for durable calls failed')
      }
    }
  }

  ready(): void {
    const wasLost = this.status.state === 'lost'
    this.#become({ state: 'ready', text: `connected to ${this.place}` })
    if (wasLost) this.#notice(`PostgreSQL at ${this.place} is reachable again; durable calls continue`)
  }

  lost(reason: string): void {
    const text = `PostgreSQL at ${this.place} is unreachable (${reason}); reconnecting`
    this.#become({ state: 'lost', text })
    this.#notice(`${text}. Calls that need it fail until then; accepted ones continue afterwards`)
  }

  failed({ message, isPassing }: Pick<DatabaseProblem, 'message' | 'isPassing'>): void {
    this.#become({ state: 'failed', text: isPassing ? `${message}; retrying` : message })
  }

  #become(status: DurableStatus): void {
    this.status = status
    this.tell({ type: 'state' })
  }

  #notice(text: string): void {
    this.#logger.warn({ state: this.status.state }, text)
    this.#onNotice?.(text)
  }
}
