/** What a person is told about servers; held back while it is not known whether it matters. */
export class Reports {
  readonly #say: (text: string) => void
  readonly #isSilent: boolean
  #held: string[] | undefined

  /** `first` is told in any case; what is `isSilent` tells nothing else. */
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

  /** Holds back what comes during `wait`: it is told only if what was waited for is not there then. */
  async unless(isThere: () => boolean, wait: () => Promise<unknown>): Promise<void> {
    this.#held ??= []
    await wait()
    const held = this.#held ?? []
    this.#held = undefined
    if (!isThere()) for (const report of held) this.#say(report)
  }
}
