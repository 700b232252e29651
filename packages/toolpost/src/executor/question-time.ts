import { QUESTION_MS } from '../tools/caller.ts'

/** How long a call waits for answers to its tool's questions; overlapping questions count once. */
export class QuestionTime {
  #open = 0
  /** Since when questions have been open. */
  since: number | undefined
  /** Time spent waiting for earlier ones. */
  waitedMs = 0

  /** How far the deadline has been moved for open questions. */
  get allowanceMs(): number {
    return this.since === undefined ? 0 : QUESTION_MS
  }

  /** Returns `true` for the first open question. */
  begin(now: number): boolean {
    if (this.#open++ > 0) return false
    this.since = now
    return true
  }

  /** Returns `true` for the last open question, unless the wait has already been counted. */
  end(): boolean {
    return --this.#open === 0 && this.since !== undefined
  }

  /** Counts the wait so far and returns it. */
  count(now: number): number {
    if (this.since === undefined) return 0
    const waitedMs = Math.min(now - this.since, QUESTION_MS)
    this.since = undefined
    this.waitedMs += waitedMs
    return waitedMs
  }
}
