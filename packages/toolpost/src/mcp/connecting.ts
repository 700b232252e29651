import type { Attempts } from './attempts.ts'
import type { ConnectionLog } from './connection-log.ts'
import type { ServerLogin } from './oauth/server-login.ts'
import { type OpenOptions, openLink } from './open-link.ts'
import { failureWith, type ServerFailure } from './server-failure.ts'
import type { ServerLink } from './server-link.ts'
import type { ServerState } from './server-status.ts'

/** The server to connect to. */
export interface ConnectingServer {
  readonly state: ServerState
  /** Why there is no connection. */
  failure: ServerFailure | undefined
  become(state: ServerState): void
  adopt(link: ServerLink, attempt: number): Promise<void>
  /** Reports, once, that it failed or needs a login. */
  failed(failure: ServerFailure, attempts: number): void
}

export interface ConnectingOptions extends Omit<OpenOptions, 'giveUp'> {
  attempts: Attempts
  log: ConnectionLog
  login: ServerLogin | undefined
}

/** Connects to a server, retrying until it succeeds. */
export class Connecting {
  readonly #server: ConnectingServer
  readonly #options: ConnectingOptions
  /** The current round of connecting: an older one stops when it wakes up. */
  #round = 0
  #running: Promise<void> = Promise.resolve()
  /** Aborts the current attempt. */
  #opening: AbortController | undefined
  /** The current attempt, or the last one: resolves to its failure, or `undefined` if the server is ready. */
  attempt: Promise<ServerFailure | undefined> = Promise.resolve(undefined)

  constructor(server: ConnectingServer, options: ConnectingOptions) {
    this.#server = server
    this.#options = options
  }

  /** Resolves when the server is ready, has failed or needs a login; retrying continues regardless. */
  start(firstAttempt: number): Promise<void> {
    return new Promise(settle => {
      this.#running = this.#tryUntilReady(++this.#round, firstAttempt, settle).finally(settle)
    })
  }

  /** Makes the current round obsolete. */
  abandon(): void {
    this.#round++
    this.#options.attempts.wake()
  }

  /** Aborts the current attempt. Resolves when it has ended. */
  async stop(cause: string): Promise<void> {
    this.#opening?.abort(new Error(cause))
    await this.#running
  }

  async #tryUntilReady(round: number, firstAttempt: number, settle: () => void): Promise<void> {
    const { attempts } = this.#options
    for (let attempt = firstAttempt; ; attempt++) {
      const { failure: last } = this.#server
      const due = last?.needsLogin ? this.#loggedIn(last, settle) : attempts.next(attempt)
      if (due) await due
      if (round !== this.#round) return
      const failure = await this.#tryOnce(round, attempt)
      if (!failure || round !== this.#round) return
      attempts.asked(failure.retryAfterMs)
      if (failure.needsLogin) attempt = 0
      else this.#missed(failure, attempt, settle)
      if (failure.isPermanent) attempt = attempts.pastQuick(attempt)
    }
  }

  /** A failed server is reported once, not again while it keeps failing. */
  #missed(failure: ServerFailure, attempt: number, settle: () => void): void {
    const { attempts, log } = this.#options
    const isLast = failure.isPermanent ? !attempts.wasReady : attempts.isLast(attempt)
    if (!isLast) this.#server.become(attempts.wasReady ? 'lost' : 'starting')
    else if (this.#server.state !== 'failed') {
      this.#server.become('failed')
      this.#server.failed(failure, attempt)
      settle()
    }
    log.attemptFailed(failure, attempt, attempts.delayBefore(attempt + 1))
  }

  /** Resolves when the login changes, or the server is restarted or closed. */
  #loggedIn(failure: ServerFailure, settle: () => void): Promise<void> {
    const { attempts, login } = this.#options
    this.#server.failure = failureWith(failure.cause)
    const wait = attempts.untilWoken()
    const stop = login?.onChange(() => attempts.wake())
    this.#server.become('needs_login')
    this.#server.failed(failure, 0)
    settle()
    return wait.finally(stop)
  }

  #tryOnce(round: number, attempt: number): Promise<ServerFailure | undefined> {
    const { attempts, log } = this.#options
    log.attempt(attempt, attempts.delayBefore(attempt))
    if (this.#server.state !== 'failed') this.#server.become('starting')
    this.attempt = this.#open(round, attempt)
    return this.attempt
  }

  async #open(round: number, attempt: number): Promise<ServerFailure | undefined> {
    const giveUp = new AbortController()
    this.#opening = giveUp
    const opened = await openLink({ ...this.#options, giveUp })
    const isCurrent = round === this.#round
    if ('cause' in opened) {
      if (isCurrent) this.#server.failure = opened
      return opened
    }
    await (isCurrent ? this.#server.adopt(opened, attempt) : opened.close())
    return undefined
  }
}
