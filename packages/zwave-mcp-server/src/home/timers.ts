/** Timers that are cleared together. */
export class Timers {
  readonly #pending = new Set<NodeJS.Timeout>()

  /** A delay of 0 runs the action synchronously. */
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
