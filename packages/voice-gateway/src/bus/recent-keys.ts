/** Remembers a bounded number of recent keys and when they were added. */
export class RecentKeys {
  readonly #limit: number
  readonly #keys = new Map<string, number>()

  constructor(limit: number) {
    this.#limit = limit
  }

  has(key: string): boolean {
    return this.#keys.has(key)
  }

  add(key: string, at = 0): void {
    this.#keys.delete(key)
    this.#keys.set(key, at)
    const [oldest] = this.#keys.keys()
    if (this.#keys.size > this.#limit && oldest !== undefined) this.#keys.delete(oldest)
  }

  /** The keys added at this time or later. */
  since(at: number): string[] {
    return [...this.#keys].filter(([, given]) => given >= at).map(([key]) => key)
  }

  clear(): void {
    this.#keys.clear()
  }
}
