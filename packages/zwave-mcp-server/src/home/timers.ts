/** Timers that end together. */
export class Timers {
  readonly #pending = new Set<NodeJS.Timeout>()

  /** After no time at all it is done at once. */
  after(ms: number, action: () => void): void {
    if (ms === 0) return action()
    const timer = setTimeout(() => {
      this.#pending.delete(timer)
      action()
    }, ms)
    this.#pending.add(timer)
  }

  clear(): void {
    for (const timer of this.#pending) clearTimeout(timer)
  }
}
