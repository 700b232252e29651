import type { Sample } from '../tools/caller.ts'
import type { ToolFailureError } from '../tools/tool-failure-error.ts'
import { Attempts, type AttemptsOptions } from './attempts.ts'
import { Connecting, type ConnectingServer } from './connecting.ts'
import { ConnectionLog } from './connection-log.ts'
import { hintFor } from './failure-report.ts'
import type { ToolServer } from './mcp-tool.ts'
import type { ServerLogin } from './oauth/server-login.ts'
import type { ServerEntry } from './server-entry.ts'
import { failureWith, type ServerFailure, unavailable } from './server-failure.ts'
import { type LinkContext, linkStatus, type ServerLink } from './server-link.ts'
import { type OfferEvents, ServerOffers } from './server-offers.ts'
import { ServerRequests } from './server-requests.ts'
import { secretsOf } from './server-secrets.ts'
import type { ServerState, ServerStatus } from './server-status.ts'
import { ServerTools, type ServerToolsOptions } from './server-tools.ts'
import { shownTarget } from './shown-target.ts'

export interface ConnectionOptions
  extends Omit<ServerToolsOptions, 'server' | 'onChange'>,
    Omit<AttemptsOptions, 'onChange'> {
  entry: ServerEntry
  sample?: Sample | undefined
  /** Receives changes of its resources and prompts. */
  offers: OfferEvents
  login: ServerLogin | undefined
  /** Its status changed. */
  onChange(connection: ServerConnection, what: Change): void
  /** The first connection failed, and is retried slowly from now on; or it needs a login. */
  onFailed(connection: ServerConnection, failure: ServerFailure, attempts: number): void
}

/** `tools` if its tools changed too. */
export type Change = 'server' | 'tools'

/**
 * One server, for as long as the program runs, in the states of `ServerState`. Nothing that happens to it affects another
 * server.
 */
export class ServerConnection implements ToolServer, ConnectingServer {
  readonly name: string
  readonly entry: ServerEntry
  readonly log: ConnectionLog
  readonly requests: ServerRequests
  /** What it offers besides tools. */
  readonly offers: ServerOffers
  readonly #options: ConnectionOptions
  readonly #tools: ServerTools
  readonly #connecting: Connecting
  readonly #attempts: Attempts
  #state: ServerState = 'starting'
  /** The current connection, if any. A plain field, because every call reads it. */
  link: ServerLink | undefined
  failure: ServerFailure | undefined
  #startedAt = 0
  #readyAfterMs: number | undefined
  #isClosed = false
  #readySince: number | undefined
  /** A connection that takes no more calls, but still has some pending. */
  #retiring: ServerLink | undefined
  successor: ServerConnection | undefined

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
    const context: LinkContext = {
      secrets: secretsOf(entry),
      requests: this.requests,
      login: options.login,
      memory: {},
      events: {
        lost: failure => this.#onLost(failure),
        notice: (method, params, from) => {
          if (method === 'notifications/tools/list_changed') this.#tools.refresh()
          else if (method === 'notifications/elicitation/complete') this.requests.completed(params)
          else if (!this.requests.tasks.notice(method, params)) this.offers.notice(method, params, from)
        },
        stderr: () => this.#changed(),
        junk: line => this.log.junk(line),
        stray: (id, isLate) => this.log.stray(id, isLate),
        problem: message => this.log.problem(message),
      },
    }
    const { log } = this
    this.#connecting = new Connecting(this, { ...options, context, log, attempts: this.#attempts })
  }

  get state(): ServerState {
    return this.#state
  }

  /** Starts connecting. Resolves when the server is ready or has failed; never rejects. */
  start(): Promise<void> {
    this.#startedAt = this.#options.clock.now()
    return this.#connecting.start(1)
  }

  /** Sets its position in the configuration. */
  moveTo(order: number): void {
    this.#tools.order = order
  }

  async reconnected(): Promise<ServerLink | undefined> {
    if (this.successor) return this.successor.reconnected()
    if (this.#state === 'starting') await this.#connecting.attempt
    return this.link
  }

  unavailable(cause?: string): ToolFailureError {
    if (this.successor && cause === undefined) return this.successor.unavailable()
    const failure = this.failure ?? failureWith('it is not connected')
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
      error: this.#state === 'ready' ? undefined : this.failure?.cause,
      stderr: this.link?.stderr() ?? this.failure?.stderr ?? '',
      exitCode: this.failure?.exitCode ?? null,
      junkLines: this.log.junkLines,
      nextAttemptAt: this.#attempts.nextAt,
      readyAfterMs: this.#readyAfterMs,
      info: this.offers.info,
      target: shownTarget(this.entry),
      ...linkStatus(this.link),
      ...(this.#state === 'ready'
        ? { readySince: this.#readySince }
        : { hint: hintFor(this.name, this.entry) }),
    }
  }

  /** Resolves after the first attempt, whether or not it succeeded. Never rejects. */
  async tried(): Promise<void> {
    await this.#connecting.attempt
  }

  /** Closes the connection until it is restarted. Its tools stay, and say why they are unavailable. */
  async stop(): Promise<void> {
    this.log.logger.info({}, 'Stopping MCP server')
    await this.#end('closed', 'it was stopped')
  }

  /** Closes the connection and opens a new one. Resolves when that has succeeded or failed. */
  async restart(): Promise<void> {
    this.log.logger.info({}, 'Restarting MCP server')
    await this.#end('lost', 'it is being restarted')
    if (this.#isClosed) return
    this.#attempts.forgive()
    const connected = this.start()
    // A server that was ready before is retried forever, so only its first attempt is awaited.
    await (this.#attempts.wasReady ? this.#connecting.attempt : connected)
  }

  /** Takes no more calls, and closes once the pending ones have ended. `successor`, if any, takes its place. */
  async retire(successor?: ServerConnection): Promise<void> {
    this.successor = successor
    this.#retiring = this.link
    this.link = undefined
    if (!successor) this.#tools.clear()
    await this.#retiring?.idle()
    this.#isClosed = true
    await this.#end('closed', 'it was removed from the configuration')
  }

  /** Closes the connection and ends what it started. Resolves when everything is gone. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#end('closed', 'it was closed')
    this.offers.forget()
  }

  async #end(state: ServerState, cause: string): Promise<void> {
    const link = this.link ?? this.#retiring
    this.link = this.#retiring = undefined
    this.failure = { ...failureWith(cause), stderr: link?.stderr() ?? '' }
    this.#connecting.abandon()
    this.become(state)
    const stopped = this.#connecting.stop(cause)
    await link?.close()
    await stopped
    this.log.close()
  }

  become(state: ServerState): void {
    this.#state = state
    this.#changed()
  }

  #changed(): void {
    this.#options.onChange(this, 'server')
  }

  failed(failure: ServerFailure, attempts: number): void {
    this.#options.onFailed(this, failure, attempts)
  }

  async adopt(link: ServerLink, attempt: number): Promise<void> {
    this.link = link
    this.#attempts.succeeded()
    this.#readyAfterMs ??= Math.round(this.#options.clock.now() - this.#startedAt)
    await this.#tools.adopt(link)
    if (link !== this.link) return
    this.offers.adopt(link)
    this.#readySince = Date.now()
    this.become('ready')
    this.log.succeeded(attempt, this.#tools.names().length)
  }

  #onLost(failure: ServerFailure): void {
    if (this.#retiring) return
    const next = this.#attempts.afterLoss(this.link?.hasAnswered === true)
    this.link = undefined
    this.failure = failure
    this.become('lost')
    this.log.lost(failure)
    this.#attempts.asked(failure.retryAfterMs)
    void this.#connecting.start(next)
  }
}
