/** Reports about servers to a person; held back until it is known whether they matter. */
export class Reports {
  readonly #say: (text: string) => void
  readonly #isSilent: boolean
  #held: string[] | undefined

  /** `first` is always reported; with `isSilent`, nothing else is. */
  constructor(say: (text: string) => void, first: readonly string[] = [], isSilent = false) {
    this.#say = say
    this.#isSilent = isSilent
    for (const report of first) say(report)
  }

  add(report: string): void {
    if (this.#isSilent) return
    if (this.#held) this.#held.push(report)
    else this.#say(report)
  }

  /** Holds back reports during `wait`, and passes them on only if `isThere()` is false afterwards. */
  async unless(isThere: () => boolean, wait: () => Promise<unknown>): Promise<void> {
    this.#held ??= []
    await wait()
    const held = this.#held ?? []
    this.#held = undefined
    if (!isThere()) for (const report of held) this.#say(report)
  }
}
