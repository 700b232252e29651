import { randomUUID } from 'node:crypto'
import { type Clock, systemClock } from '../../util/clock.ts'

export interface ResultStoreOptions {
  /** How long a result is kept. An hour if left out. */
  maxAgeMs?: number | undefined
  clock?: Clock | undefined
}

/** The owner of a result: nobody else can read it. */
export interface ResultOwner {
  caller?: string | undefined
  conversation?: string | undefined
}

/** Why a result cannot be read. */
export type Missing = 'expired' | 'foreign' | 'unknown'

export interface KeptResult {
  readonly handle: string
  readonly mimeType: string
  readonly content: Buffer
  /** What a model reads in its place. */
  readonly summary: string
}

export const HANDLE_PREFIX = 'result://'
const HANDLE = /^result:\/\/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
/** In total; the oldest is evicted first. */
const MAX_BYTES = 50_000_000

/** Keeps large results in memory for a while. */
export class ResultStore {
  readonly maxAgeMs: number
  readonly #clock: Clock
  /** Oldest first. */
  readonly #entries = new Map<string, KeptResult & { owner: ResultOwner; expiresAt: number }>()

  constructor({ maxAgeMs = 60 * 60_000, clock = systemClock }: ResultStoreOptions) {
    this.maxAgeMs = maxAgeMs
    this.#clock = clock
  }

  /** Keeps a result and returns its handle. `summary` is called once that is known. */
  keep(content: Buffer, mimeType: string, owner: ResultOwner, summary: (handle: string) => string): string {
    const handle = `${HANDLE_PREFIX}${randomUUID()}`
    const expiresAt = this.#clock.now() + this.maxAgeMs
    this.#entries.set(handle, { handle, mimeType, content, owner, expiresAt, summary: summary(handle) })
    this.#evict()
    return handle
  }

  read(handle: string, mayRead: (owner: ResultOwner) => boolean): KeptResult | Missing {
    this.#evict()
    const entry = this.#entries.get(handle)
    if (!entry) return HANDLE.test(handle) ? 'expired' : 'unknown'
    return mayRead(entry.owner) ? entry : 'foreign'
  }

  async close(): Promise<void> {
    this.#entries.clear()
  }

  #evict(): void {
    let bytes = [...this.#entries.values()].reduce((sum, { content }) => sum + content.length, 0)
    for (const [handle, { expiresAt, content }] of this.#entries) {
      if (expiresAt > this.#clock.now() && bytes <= MAX_BYTES) return
      bytes -= content.length
      this.#entries.delete(handle)
    }
  }
}
