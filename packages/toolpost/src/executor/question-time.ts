/** The longest that a call waits for an answer to a question of its tool. */
export const QUESTION_MS = 5 * 60_000

/** How long a call waits for those whom its tool asks: once, however many questions are open together. */
export class QuestionTime {
  #open = 0
  /** Since when any are open. */
  since: number | undefined
  /** How long earlier ones were waited for. */
  waitedMs = 0

  /** What the deadline has been moved by for those that are open. */
  get allowanceMs(): number {
    return this.since === undefined ? 0 : QUESTION_MS
  }

  /** `true` for the first that is open. */
  begin(now: number): boolean {
    if (this.#open++ > 0) return false
    this.since = now
    return true
  }

  /** `true` for the last that was open, unless the wait has been counted. */
  end(): boolean {
    return --this.#open === 0 && this.since !== undefined
  }

  /** Counts the wait up to now, and gives it. */
  count(now: number): number {
    if (this.since === undefined) return 0
    const waitedMs = Math.min(now - this.since, QUESTION_MS)
    this.since = undefined
    this.waitedMs += waitedMs
    return waitedMs
  }
}
