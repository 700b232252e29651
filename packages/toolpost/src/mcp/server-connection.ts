import type { Sample } from '../tools/caller.ts'
import type { ToolFailureError } from '../tools/tool-failure-error.ts'
import { Attempts, type AttemptsOptions } from './attempts.ts'
import { ConnectionLog } from './connection-log.ts'
import type { ToolServer } from './mcp-tool.ts'
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
  /** Its status is another one now. */
  onChange(connection: ServerConnection, what: Change): void
  /** The first connection could not be made, and is not tried any more. */
  onFailed(connection: ServerConnection, failure: ServerFailure, attempts: number): void
}

/** `tools` if its tools changed too. */
export type Change = 'server' | 'tools'

/**
 * One server, for as long as the program runs: `starting → ready → lost → starting → …`, or `failed` when its
 * first connection cannot be made. Nothing that happens to it reaches another server.
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
  #attempt: Promise<unknown> = Promise.resolve()
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

  #connect(firstAttempt: number): Promise<void> {
    this.#connecting = this.#tryUntilReady(++this.#round, firstAttempt)
    return this.#connecting
  }

  async #tryUntilReady(round: number, firstAttempt: number): Promise<void> {
    for (let attempt = firstAttempt; ; attempt++) {
      const due = this.#attempts.next(attempt)
      if (due) await due
      if (round !== this.#round) return
      const failure = await this.#tryOnce(round, attempt)
      if (!failure || round !== this.#round) return
      if (this.#attempts.isLast(attempt)) return this.#fail(failure, attempt)
      this.#become(this.#attempts.wasReady ? 'lost' : 'starting')
      this.log.attemptFailed(failure, attempt, this.#attempts.delayBefore(attempt + 1))
    }
  }

  /** One attempt: its failure, or nothing if the server is ready. */
  #tryOnce(round: number, attempt: number): Promise<ServerFailure | undefined> {
    this.log.attempt(attempt, this.#attempts.delayBefore(attempt))
    this.#become('starting')
    const outcome = this.#open(round, attempt)
    this.#attempt = outcome
    return outcome
  }

  async #open(round: number, attempt: number): Promise<ServerFailure | undefined> {
    const { clock, connectTimeoutMs } = this.#options
    const giveUp = new AbortController()
    this.#opening = giveUp
    const context = this.#context
    const opened = await openLink({ entry: this.entry, context, clock, connectTimeoutMs, giveUp })
    const isCurrent = round === this.#round
    if ('cause' in opened) {
      if (isCurrent) this.#failure = opened
      return opened
    }
    await (isCurrent ? this.#adopt(opened, attempt) : opened.close())
    return undefined
  }

  async #adopt(link: ServerLink, attempt: number): Promise<void> {
    const { clock } = this.#options
    this.link = link
    this.#attempts.succeeded()
    this.#readyAfterMs ??= Math.round(clock.now() - this.#startedAt)
    await this.#tools.adopt(link)
    if (link !== this.link) return
    this.offers.adopt(link)
    this.#become('ready')
    this.log.succeeded(attempt, this.#tools.names().length)
  }

  #fail(failure: ServerFailure, attempts: number): void {
    this.#become('failed')
    this.#options.onFailed(this, failure, attempts)
  }

  #onLost(failure: ServerFailure): void {
    const next = this.#attempts.afterLoss(this.link?.hasAnswered === true)
    this.link = undefined
    this.#failure = failure
    this.#become('lost')
    this.log.lost(failure)
    void this.#connect(next)
  }
}
