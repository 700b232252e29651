import type { Pool } from 'pg'
import type { Progress } from 'toolpost'

/** Messages between processes. A lost one costs a second at most: everything is polled that often anyway. */
export type Notice =
  /** Something is waiting in this queue. */
  | { queue: string }
  /** This run has ended. */
  | { ended: string }
  /** This run was accepted or started. */
  | { changed: string }
  | { cancel: string }
  | { progress: string; value: Progress }
  | { workers: true }
  | { approvals: true }

export const CHANNEL = 'toolpost_durable'
/** PostgreSQL accepts less than 8,000 bytes. */
const MAX_BYTES = 7_500
const MAX_WAITING = 10_000

/** Sends notices, batching those of one turn of the event loop. */
export class Notices {
  readonly #pool: Pool
  readonly #waiting = new Set<string>()
  #sending: Promise<void> | undefined

  constructor(pool: Pool) {
    this.#pool = pool
  }

  send(notice: Notice): void {
    const text = JSON.stringify(notice)
    if (this.#waiting.size >= MAX_WAITING || text.length > MAX_BYTES / 4) return
    this.#waiting.add(text)
    this.#sending ??= new Promise<void>(resolve => setImmediate(resolve)).then(() => this.#sendAll())
  }

  /** Resolves when all have been sent. */
  async sent(): Promise<void> {
    await this.#sending
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.size > 0) {
      const payload = `[${this.#take().join(',')}]`
      // Lost if the database is down; polling makes up for them.
      await this.#pool.query('SELECT pg_notify($1, $2)', [CHANNEL, payload]).catch(() => {})
    }
    this.#sending = undefined
  }

  #take(): string[] {
    const taken: string[] = []
    let bytes = 2
    for (const text of this.#waiting) {
      bytes += Buffer.byteLength(text) + 1
      if (bytes > MAX_BYTES) break
      taken.push(text)
      this.#waiting.delete(text)
    }
    return taken
  }
}

/** The notices in a payload; none if it is not ours. */
export function readNotices(payload: string | undefined): Notice[] {
  try {
    const notices: unknown = JSON.parse(payload ?? '')
    return Array.isArray(notices) ? notices : []
  } catch {
    return []
  }
}
