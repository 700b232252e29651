import { QUESTION_MS } from '../tools/caller.ts'
import type { Requester } from './server-link.ts'

/** Limits how long a server may take for a request, not counting the time its caller takes to answer questions. */
export class RequestLimit {
  readonly #ms: number
  readonly #given: AbortSignal | undefined
  readonly #controller = new AbortController()
  readonly #giveUp = () => this.#controller.abort(this.#given?.reason)
  #timer: NodeJS.Timeout | undefined
  #questions = 0
  /** Whether the server took too long. */
  hasPassed = false

  constructor(ms: number, given: AbortSignal | undefined) {
    this.#ms = ms
    this.#given = given
    if (given?.aborted) this.#giveUp()
    given?.addEventListener('abort', this.#giveUp)
    this.#arm(ms)
  }

  /** Aborts at the limit, or when the caller gives up. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** The same requester, with the limit paused while a question is open. */
  around(from: Requester | undefined): Requester | undefined {
    const { ask, sample } = from ?? {}
    return (
      from && {
        peer: from.peer,
        onLog: from.onLog,
        hold: wait => this.#during(wait),
        ...(ask && { ask: question => this.#during(() => ask(question)) }),
        ...(sample && { sample: (params, options) => this.#during(() => sample(params, options)) }),
      }
    )
  }

  end(): void {
    clearTimeout(this.#timer)
    this.#given?.removeEventListener('abort', this.#giveUp)
  }

  async #during<T>(ask: () => Promise<T>): Promise<T> {
    if (this.#questions++ === 0) this.#arm(QUESTION_MS + this.#ms)
    try {
      return await ask()
    } finally {
      if (--this.#questions === 0) this.#arm(this.#ms)
    }
  }

  #arm(ms: number): void {
    clearTimeout(this.#timer)
    if (this.signal.aborted) return
    this.#timer = setTimeout(() => {
      this.hasPassed = true
      this.#controller.abort(new Error(`no answer within ${this.#ms} ms`))
    }, ms).unref()
  }
}
