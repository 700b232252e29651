import type { Logger } from '../logging/logger.ts'
import { quietly } from '../runtime/quietly.ts'
import type { HistoryStatus } from './history-options.ts'

/** How a history fares, and what is said of it: once each time that it changes. */
export class Health {
  state: HistoryStatus['state'] = 'opening'
  problem: string | undefined
  written = 0
  dropped = 0
  readonly #logger: Logger
  readonly #onNotice: (text: string) => void
  #isDropping = false

  constructor(logger: Logger, onNotice: (text: string) => void = () => {}) {
    this.#logger = logger
    this.#onNotice = onNotice
  }

  kept(calls: number): void {
    this.written += calls
    this.works()
  }

  drop(calls: number): void {
    this.dropped += calls
    if (this.#isDropping) return
    this.#isDropping = true
    const fields = { dropped: this.dropped }
    this.#logger.warn(fields, 'Calls are missing from the history: writing cannot keep up')
  }

  /** It keeps up again: the next time that it does not is said anew. */
  keepsUp(): void {
    this.#isDropping = false
  }

  works(): void {
    if (this.state === 'failed') this.#logger.info({}, 'Calls are kept again')
    if (this.state !== 'closed') this.state = 'open'
    this.problem = undefined
  }

  fails(problem: string): void {
    if (this.state !== 'failed') this.notice(`Calls are not kept: ${problem}`)
    if (this.state !== 'closed') this.state = 'failed'
    this.problem = problem
    this.#isDropping = true
  }

  /** For the log, and for a person. */
  notice(text: string): void {
    this.#logger.warn({}, text)
    quietly(() => this.#onNotice(text))
  }
}
