import type { Sample } from '../tools/caller.ts'
import type { ToolFailureError } from '../tools/tool-failure-error.ts'
import { Attempts, type AttemptsOptions } from './attempts.ts'
import { ConnectionLog } from './connection-log.ts'
import type { ToolServer } from './mcp-tool.ts'
import type { ServerLogin } from './oauth/server-login.ts'
import { openLink } from './open-link.ts'
import type { ServerEntry } from './server-entry.ts'
import { failureWith, type ServerFailure, unavailable } from './server-failure.ts'
import type { LinkContext, ServerLink } from './server-link.ts'
import { type OfferEvents, ServerOffers } from './server-offers.ts'
import { ServerRequests } from './server-requests.ts'
import { secretsOf } from './server-secrets.ts'
import type { ServerState, ServerStatus } from './server-status.ts'
import { ServerTools, type ServerToolsOptions } from './server-tools.ts'

export interface ConnectionOptions
  extends Omit<ServerToolsOptions, 'server' | 'onChange'>,
    Omit<AttemptsOptions, 'onChange'> {
  entry: ServerEntry
  sample?: Sample | undefined
  /** Told of changes in what it has beside tools. */
  offers: OfferEvents
  login: ServerLogin | undefined
  /** Its status is another one now. */
  onChange(connection: ServerConnection, what: Change): void
  /** The first connection could not be made, and is tried slowly from now on; or it waits for a login. */
  onFailed(connection: ServerConnection, failure: ServerFailure, attempts: number): void
}

/** `tools` if its tools changed too. */
export type Change = 'server' | 'tools'

/**
 * One server, for as long as the program runs, in the states that `ServerState` describes. Nothing that happens to it
 * reaches another server.
 */
export class ServerConnection implements ToolServer {
  readonly name: string
  readonly entry: ServerEntry
  readonly log: ConnectionLog
  readonly requests: ServerRequests
  /** What it has beside tools. */
  readonly offers: ServerOffers
  readonly #options: ConnectionOptions
  readonly #tools: ServerTools
  readonly #context: LinkContext
  readonly #attempts: Attempts
  #state: ServerState = 'starting'
  /** The connection, if there is one now. A plain field: every call reads it. */
  link: ServerLink | undefined
  #failure: ServerFailure | undefined
  #startedAt = 0
  #readyAfterMs: number | undefined
  #isClosed = false
  /** Which round of connecting is the current one: an older one that wakes up has nothing to do any more. */
  #round = 0
  #connecting: Promise<void> = Promise.resolve()
  #attempt: Promise<ServerFailure | undefined> = Promise.resolve(undefined)
  /** Gives up the attempt under way. */
  #opening: AbortController | undefined

  constructor(options: ConnectionOptions) {
    const { name, entry, clock } = options
    this.name = name
    this.entry = entry
    this.#options = options
    this.log = new ConnectionLog(options.logger, name, clock)
    this.#tools = new ServerTools({
      ...options,
      server: this,
      logger: this.log.logger,
      onChange: () => options.onChange(this, 'tools'),
    })
    this.#attempts = new Attempts({ ...options, onChange: () => this.#changed() })
    this.offers = new ServerOffers(this, options.offers)
    this.requests = new ServerRequests({
      server: name,
      entry,
      sample: options.sample,
      onRefused: reason => this.log.problem(reason),
    })
    this.#context = {
      secrets: secretsOf(entry),
      requests: this.requests,
      login: options.login,
      memory: {},
      events: {
        lost: failure => this.#onLost(failure),
        notice: (method, params, from) =>
          method === 'notifications/tools/list_changed'
            ? this.#tools.refresh()
            : this.offers.notice(method, params, from),
        stderr: () => this.#changed(),
        junk: line => this.log.junk(line),
        stray: (id, isLate) => this.log.stray(id, isLate),
        problem: message => this.log.problem(message),
      },
    }
  }

  get state(): ServerState {
    return this.#state
  }

  /** Begins to connect. Resolves when the server is ready or has failed; never rejects. */
  start(): Promise<void> {
    this.#startedAt = this.#options.clock.now()
    return this.#connect(1)
  }

  async reconnected(): Promise<ServerLink | undefined> {
    if (this.#state === 'starting') await this.#attempt
    return this.link
  }

  unavailable(cause?: string): ToolFailureError {
    const failure = this.#failure ?? failureWith('it is not connected')
    return unavailable({
      ...failure,
      ...(cause && { cause }),
      server: this.name,
      nextAttemptAt: this.#attempts.nextAt,
    })
  }

  status(): ServerStatus {
    return {
      name: this.name,
      state: this.#state,
      attempts: this.#attempts.number,
      tools: this.#tools.names(),
      error: this.#state === 'ready' ? undefined : this.#failure?.cause,
      stderr: this.link?.stderr() ?? this.#failure?.stderr ?? '',
      exitCode: this.#failure?.exitCode ?? null,
      pid: this.link?.pid,
      junkLines: this.log.junkLines,
      nextAttemptAt: this.#attempts.nextAt,
      readyAfterMs: this.#readyAfterMs,
      protocolVersion: this.link?.protocolVersion,
      info: this.offers.info,
    }
  }

  /** Ends the connection and makes a new one. Resolves when that has succeeded or failed. */
  async restart(): Promise<void> {
    this.log.logger.info({}, 'Restarting MCP server')
    await this.#end('lost', 'it is being restarted')
    if (this.#isClosed) return
    this.#attempts.forgive()
    const connected = this.start()
    // A server that was there before is tried for ever; its first attempt is the answer.
    await (this.#attempts.wasReady ? this.#attempt : connected)
  }

  /** Ends the connection and what it started. Resolves when nothing of it is left. */
  close(): Promise<void> {
    this.#isClosed = true
    return this.#end('closed', 'it was closed')
  }

  async #end(state: ServerState, cause: string): Promise<void> {
    this.#round++
    const link = this.link
    this.link = undefined
    this.#failure = { ...failureWith(cause), stderr: link?.stderr() ?? '' }
    this.#attempts.wake()
    this.#become(state)
    this.#opening?.abort(new Error(cause))
    await link?.close()
    await this.#connecting
    this.log.close()
  }

  #become(state: ServerState): void {
    this.#state = state
    this.#changed()
  }

  #changed(): void {
    this.#options.onChange(this, 'server')
  }

  /** Resolves when the server is ready, has failed or waits for a login; it is tried further all the same. */
  #connect(firstAttempt: number): Promise<void> {
    return new Promise(settle => {
      this.#connecting = this.#tryUntilReady(++this.#round, firstAttempt, settle).finally(settle)
    })
  }

  async #tryUntilReady(round: number, firstAttempt: number, settle: () => void): Promise<void> {
    for (let attempt = firstAttempt; ; attempt++) {
      const needed = this.#failure?.needsLogin ? this.#failure : undefined
      const due = needed ? this.#loggedIn(needed, settle) : this.#attempts.next(attempt)
      if (due) await due
      if (round !== this.#round) return
      const failure = await this.#tryOnce(round, attempt)
      if (!failure || round !== this.#round) return
      this.#attempts.asked(failure.retryAfterMs)
      if (failure.needsLogin) attempt = 0
      else this.#missed(failure, attempt, settle)
    }
  }

  /** That a server has failed is told once: that it still fails later is no news. */
  #missed(failure: ServerFailure, attempt: number, settle: () => void): void {
    if (!this.#attempts.isLast(attempt)) this.#become(this.#attempts.wasReady ? 'lost' : 'starting')
    else if (this.#state !== 'failed') {
      this.#become('failed')
      this.#options.onFailed(this, failure, attempt)
      settle()
    }
    this.log.attemptFailed(failure, attempt, this.#attempts.delayBefore(attempt + 1))
  }

  /** Resolves when there is another login, or the server is restarted or closed. */
  #loggedIn(failure: ServerFailure, settle: () => void): Promise<void> {
    this.#failure = failureWith(failure.cause)
    const wait = this.#attempts.untilWoken()
    const stop = this.#options.login?.onChange(() => this.#attempts.wake())
    this.#become('needs_login')
    this.#options.onFailed(this, failure, 0)
    settle()
    return wait.finally(stop)
  }

  /** One attempt: its failure, or nothing if the server is ready. */
  #tryOnce(round: number, attempt: number): Promise<ServerFailure | undefined> {
    this.log.attempt(attempt, this.#attempts.delayBefore(attempt))
    if (this.#state !== 'failed') this.#become('starting')
    this.#attempt = this.#open(round, attempt)
    return this.#attempt
  }

  async #open(round: number, attempt: number): Promise<ServerFailure | undefined> {
    const { clock, connectTimeoutMs } = this.#options
    const giveUp = new AbortController()
    this.#opening = giveUp
    const parts = { entry: this.entry, context: this.#context, clock, connectTimeoutMs, giveUp }
    const opened = await openLink(parts)
    const isCurrent = round === this.#round
    if ('cause' in opened) {
      if (isCurrent) this.#failure = opened
      return opened
    }
    await (isCurrent ? this.#adopt(opened, attempt) : opened.close())
    return undefined
  }

  async #adopt(link: ServerLink, attempt: number): Promise<void> {
    this.link = link
    this.#attempts.succeeded()
    this.#readyAfterMs ??= Math.round(this.#options.clock.now() - this.#startedAt)
    await this.#tools.adopt(link)
    if (link !== this.link) return
    this.offers.adopt(link)
    this.#become('ready')
    this.log.succeeded(attempt, this.#tools.names().length)
  }

  #onLost(failure: ServerFailure): void {
    const next = this.#attempts.afterLoss(this.link?.hasAnswered === true)
    this.link = undefined
    this.#failure = failure
    this.#become('lost')
    this.log.lost(failure)
    this.#attempts.asked(failure.retryAfterMs)
    void this.#connect(next)
  }
}
