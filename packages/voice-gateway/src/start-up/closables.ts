interface Closable {
  close(): Promise<void>
}

/** What has to be ended with the gateway, also what comes when it is being closed already. */
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

  /** Ends all of them side by side. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.allSettled(this.#parts.splice(0).map(part => part.close()))
  }
}
