import type { Logger } from '../logging/logger.ts'
import { quietly } from '../runtime/quietly.ts'
import type { HistoryStatus } from './history-options.ts'

/** The state of a history. Each change is reported once. */
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

  /** Writing keeps up again: the next lag is reported again. */
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
