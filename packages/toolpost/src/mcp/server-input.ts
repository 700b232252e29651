import type { Writable } from 'node:stream'
import { MAX_UNREAD_BYTES, UNREAD_GRACE_MS } from './limits.ts'

/** More than this is written without waiting for the end of the turn, and is enough for one turn. */
const MAX_OUTBOX_CHARACTERS = 1024 * 1024

/**
 * Writes to a server's stdin: everything from one turn of the event loop together, and never more than a bounded amount
 * ahead of a server that does not read.
 */
export class ServerInput {
  readonly #stream: Writable
  readonly #onStuck: () => void
  #outbox = ''
  /** Characters written in this turn. */
  #written = 0
  #isClosed = false
  #watch: NodeJS.Timeout | undefined

  constructor(stream: Writable, onStuck: () => void) {
    this.#stream = stream
    this.#onStuck = onStuck
  }

  /** Whether something was refused and nothing has been read since. */
  get isStuck(): boolean {
    return this.#watch !== undefined
  }

  /** Whether anything more should wait for the next turn. */
  get hasEnough(): boolean {
    return this.#written > MAX_OUTBOX_CHARACTERS
  }

  /** Returns `false`, without sending, if too much is waiting already. If that goes on, the server is stuck. */
  write(line: string): boolean {
    const waiting = this.#stream.writableLength
    if (waiting > 0 && waiting + this.#outbox.length + line.length > MAX_UNREAD_BYTES) {
      this.#watch ??= setTimeout(() => this.#onStuck(), UNREAD_GRACE_MS).unref()
      return false
    }
    if (this.#written === 0) setImmediate(() => this.#endTurn())
    this.#written += line.length
    this.#outbox += line
    if (this.#outbox.length > MAX_OUTBOX_CHARACTERS) this.flush()
    return true
  }

  #endTurn(): void {
    this.#written = 0
    this.flush()
  }

  flush(): void {
    const text = this.#outbox
    this.#outbox = ''
    if (text !== '' && !this.#isClosed) this.#stream.write(text, () => this.#wasRead())
  }

  #wasRead(): void {
    clearTimeout(this.#watch)
    this.#watch = undefined
  }

  close(): void {
    this.#isClosed = true
    this.#wasRead()
  }
}
