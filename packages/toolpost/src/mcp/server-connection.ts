import type { Logger } from '../logging/logger.ts'
import type { Clock } from '../runtime/clock.ts'
import type { ToolFailureError } from '../tools/tool-failure-error.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import { ConnectionLog } from './connection-log.ts'
import { STABLE_AFTER_MS } from './limits.ts'
import type { ToolServer } from './mcp-tool.ts'
import { openLink } from './open-link.ts'
import { firstConnectionDelayMs, reconnectDelayMs } from './retry-schedule.ts'
import type { ServerEntry } from './server-entry.ts'
import {
  ConnectError,
  describeError,
  failureWith,
  type ServerFailure,
  unavailable,
} from './server-failure.ts'
import type { LinkContext, ServerLink } from './server-link.ts'
import { secretsOf } from './server-secrets.ts'
import type { ServerState, ServerStatus } from './server-status.ts'
import { ServerTools } from './server-tools.ts'
import { Waiter } from './waiter.ts'

export interface ConnectionOptions {
  name: string
  entry: ServerEntry
  /** Its place in the configuration. */
  order: number
  tools: ToolManager
  attempts: number
  baseDelayMs: number
  connectTimeoutMs: number
  clock: Clock
  logger: Logger
  onChange(connection: ServerConnection): void
  /** The first connection could not be made, and is not tried any more. */
  onFailed(connection: ServerConnection, failure: ServerFailure, attempts: number): void
}

/**
 * One server, for as long as the program runs: `starting → ready → lost → starting → …`, or `failed` when its
 * first connection cannot be made. Nothing that happens to it reaches another server.
 */
export class ServerConnection implements ToolServer {
  readonly name: string
  readonly entry: ServerEntry
  readonly log: ConnectionLog
  readonly #options: ConnectionOptions
  readonly #tools: ServerTools
  readonly #context: LinkContext
  readonly #waiter: Waiter
  #state: ServerState = 'starting'
  #link: ServerLink | undefined
  #failure: ServerFailure | undefined
  #attempts = 0
  #nextAttemptAt: string | undefined
  #startedAt = 0
  #readyAt = 0
  #readyAfterMs: number | undefined
  #wasReady = false
  #isClosed = false
  /** Connections in a row that ended soon and without use: the next one waits the longer. */
  #shortLives = 0
  /** Which round of connecting is the current one: an older one that wakes up has nothing to do any more. */
  #round = 0
  #connecting: Promise<void> = Promise.resolve()
  #attempt: Promise<unknown> = Promise.resolve()
  /** Gives up the attempt under way. */
  #opening: AbortController | undefined

  constructor(options: ConnectionOptions) {
    const { name, entry, order, tools, clock } = options
    this.name = name
    this.entry = entry
    this.#options = options
    this.log = new ConnectionLog(options.logger, name)
    this.#tools = new ServerTools({
      name,
      order,
      server: this,
      tools,
      logger: this.log.logger,
      listTimeoutMs: options.connectTimeoutMs,
    })
    this.#waiter = new Waiter(clock)
    this.#context = {
      secrets: secretsOf(entry),
      memory: {},
      events: {
        lost: failure => this.#onLost(failure),
        toolsChanged: () => this.#tools.refresh(),
        junk: line => this.log.junk(line),
        stray: (id, isLate) => this.log.stray(id, isLate),
        problem: message => this.log.problem(message),
      },
    }
  }

  get state(): ServerState {
    return this.#state
  }

  get link(): ServerLink | undefined {
    return this.#link
  }

  /** Begins to connect. Resolves when the server is ready or has failed; never rejects. */
  start(): Promise<void> {
    this.#startedAt = this.#options.clock.now()
    return this.#connect(1)
  }

  async reconnected(): Promise<ServerLink | undefined> {
    if (this.#state === 'starting') await this.#attempt
    return this.#link
  }

  unavailable(cause?: string): ToolFailureError {
    const failure = this.#failure ?? failureWith('it is not connected')
    return unavailable({
      ...failure,
      ...(cause && { cause }),
      server: this.name,
      nextAttemptAt: this.#nextAttemptAt,
    })
  }

  status(): ServerStatus {
    return {
      name: this.name,
      state: this.#state,
      attempts: this.#attempts,
      tools: this.#tools.names(),
      error: this.#state === 'ready' ? undefined : this.#failure?.cause,
      stderr: this.#link?.stderr() ?? this.#failure?.stderr ?? '',
      exitCode: this.#failure?.exitCode ?? null,
      pid: this.#link?.pid,
      junkLines: this.log.junkLines,
      nextAttemptAt: this.#nextAttemptAt,
      readyAfterMs: this.#readyAfterMs,
      protocolVersion: this.#link?.protocolVersion,
    }
  }

  /** Ends the connection and makes a new one. Resolves when that has succeeded or failed. */
  async restart(): Promise<void> {
    this.log.logger.info({}, 'MCP server is restarted')
    await this.#end('lost', 'it is being restarted')
    if (this.#isClosed) return
    this.#shortLives = 0
    const connected = this.start()
    // A server that was there before is tried for ever; its first attempt is the answer.
    await (this.#wasReady ? this.#attempt : connected)
  }

  /** Ends the connection and what it started. Resolves when nothing of it is left. */
  close(): Promise<void> {
    this.#isClosed = true
    return this.#end('closed', 'it was closed')
  }

  async #end(state: ServerState, cause: string): Promise<void> {
    this.#round++
    const link = this.#link
    this.#link = undefined
    this.#state = state
    this.#nextAttemptAt = undefined
    this.#changed()
    this.#failure = { ...failureWith(cause), stderr: link?.stderr() ?? '' }
    this.#opening?.abort(new Error(cause))
    this.#waiter.wake()
    await link?.close()
    await this.#connecting
  }

  #changed(): void {
    queueMicrotask(() => this.#options.onChange(this))
  }

  #connect(firstAttempt: number): Promise<void> {
    this.#connecting = this.#tryUntilReady(++this.#round, firstAttempt)
    return this.#connecting
  }

  async #tryUntilReady(round: number, firstAttempt: number): Promise<void> {
    for (let attempt = firstAttempt; ; attempt++) {
      const delayMs = this.#delayBefore(attempt)
      this.#attempts = attempt
      // Without a delay it begins at once, not after a moment in which no attempt would be under way.
      if (delayMs > 0) await this.#wait(delayMs)
      if (round !== this.#round) return
      const failure = await this.#tryOnce(round, attempt)
      if (!failure || round !== this.#round) return
      if (!this.#wasReady && attempt >= this.#options.attempts) return this.#fail(failure, attempt)
      this.#state = this.#wasReady ? 'lost' : 'starting'
      this.#changed()
      this.log.attemptFailed(failure, attempt, this.#delayBefore(attempt + 1))
    }
  }

  #delayBefore(attempt: number): number {
    return this.#wasReady
      ? reconnectDelayMs(attempt)
      : firstConnectionDelayMs(attempt, this.#options.baseDelayMs)
  }

  #wait(delayMs: number): Promise<void> {
    this.#nextAttemptAt = new Date(Date.now() + delayMs).toISOString()
    return this.#waiter.wait(delayMs)
  }

  /** One attempt: its failure, or nothing if the server is ready. */
  #tryOnce(round: number, attempt: number): Promise<ServerFailure | undefined> {
    this.log.attempt(attempt, this.#delayBefore(attempt))
    this.#nextAttemptAt = undefined
    this.#state = 'starting'
    this.#changed()
    const outcome = this.#open(round, attempt)
    this.#attempt = outcome
    return outcome
  }

  async #open(round: number, attempt: number): Promise<ServerFailure | undefined> {
    const { clock, connectTimeoutMs } = this.#options
    const opening = new AbortController()
    const timer = clock.setTimer(() => opening.abort(tooSlow(connectTimeoutMs)), connectTimeoutMs)
    this.#opening = opening
    try {
      const link = await openLink({ entry: this.entry, context: this.#context, signal: opening.signal })
      if (round === this.#round) this.#becomeReady(link, attempt)
      else await link.close()
      return undefined
    } catch (error) {
      const failure = error instanceof ConnectError ? error.failure : failureWith(describeError(error))
      if (round === this.#round) this.#failure = failure
      return failure
    } finally {
      timer.cancel()
    }
  }

  #becomeReady(link: ServerLink, attempt: number): void {
    this.#link = link
    this.#state = 'ready'
    this.#changed()
    this.#wasReady = true
    this.#readyAt = this.#options.clock.now()
    this.#readyAfterMs ??= Math.round(this.#readyAt - this.#startedAt)
    this.#tools.adopt(link.tools)
    this.log.succeeded(attempt, this.#tools.names().length)
  }

  #fail(failure: ServerFailure, attempts: number): void {
    this.#state = 'failed'
    this.#changed()
    this.#options.onFailed(this, failure, attempts)
  }

  #onLost(failure: ServerFailure): void {
    const livedMs = this.#options.clock.now() - this.#readyAt
    const wasOfUse = this.#link?.hasAnswered === true || livedMs >= STABLE_AFTER_MS
    this.#shortLives = wasOfUse ? 0 : this.#shortLives + 1
    this.#link = undefined
    this.#state = 'lost'
    this.#failure = failure
    this.#changed()
    this.log.lost(failure)
    void this.#connect(Math.max(1, this.#shortLives))
  }
}

function tooSlow(connectTimeoutMs: number): Error {
  return new Error(`no answer to the handshake in ${connectTimeoutMs} ms`)
}
