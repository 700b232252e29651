import { createHmac } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { questionOf } from '../interceptors/approval.ts'
import type { Approval } from '../interceptors/index.ts'
import { describeThrown } from '../util/quietly.ts'
import type { ToolpostConfig } from './config.ts'
import { runningGateway, stateFolder } from './local-state.ts'

type NotifyTarget = NonNullable<NonNullable<ToolpostConfig['approvals']>['notify']>

/** Longer questions are not sent: nobody could decide about what they cannot read. */
const MAX_SENT_QUESTION_BYTES = 2_000
const RETRY_AFTER_MS = [1_000, 5_000, 25_000]
const TIMEOUT_MS = 10_000

interface NotifierOptions {
  target(): NotifyTarget | undefined
  /** The configuration: the console of its gateway is linked to. */
  file(): string | undefined
  warn(text: string): void
  retryAfterMs?: readonly number[] | undefined
}

/** Reports calls that wait for a person to a webhook, without holding anything up. */
export class Notifier {
  readonly #options: NotifierOptions
  readonly #closing = new AbortController()
  #known = new Set<string>()

  constructor(options: NotifierOptions) {
    this.#options = options
  }

  /** Sends those that are new. */
  show(waiting: readonly Approval[]): void {
    const target = this.#options.target()
    const added = waiting.filter(({ id }) => !this.#known.has(id))
    this.#known = new Set(waiting.map(({ id }) => id))
    if (target) for (const approval of added) void this.#send(target, approval)
  }

  close(): void {
    this.#closing.abort()
  }

  async #send({ url, secret }: NotifyTarget, approval: Approval): Promise<void> {
    const { retryAfterMs = RETRY_AFTER_MS, warn } = this.#options
    const { signal } = this.#closing
    const body = JSON.stringify(this.#message(approval))
    const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
    const headers = { 'content-type': 'application/json', 'x-toolpost-signature': signature }
    for (const [attempt, delayMs] of [0, ...retryAfterMs].entries()) {
      try {
        await pause(delayMs, undefined, { signal, ref: false })
        const limit = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)])
        const { ok, status } = await fetch(url, {
          method: 'POST',
          body,
          headers,
          signal: limit,
          redirect: 'error',
        })
        if (ok) return
        throw new Error(`it answered ${status}`)
      } catch (error) {
        if (signal.aborted) return
        if (attempt === retryAfterMs.length)
          warn(`⚠️ approvals.notify: a waiting call could not be reported: ${describeThrown(error)}`)
      }
    }
  }

  #message(approval: Approval): object {
    const { id, tool, server, origin, caller, because, askedAt, expiresAt } = approval
    const question = questionOf(approval)
    const isShort = Buffer.byteLength(question) <= MAX_SENT_QUESTION_BYTES
    const gateway = runningGateway(stateFolder(this.#options.file()))
    return {
      question: isShort ? question : 'A call is too long to be shown here: look at it in the console',
      ...{ id, tool, server, origin, caller, because, askedAt, expiresAt },
      ...(gateway && { link: `${gateway.url}/#/approvals` }),
    }
  }
}
