import { once } from 'node:events'
import type { Logger } from '../logging/logger.ts'
import { RateLimitedLog } from '../logging/rate-limit.ts'
import { safeText } from '../logging/safe-value.ts'
import type { Requester, Sample } from '../tools/caller.ts'
import type { ToolFailureError } from '../tools/tool-failure-error.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import type { Clock } from '../util/clock.ts'
import { isTask } from './call-result.ts'
import type { Catalog } from './catalog.ts'
import { Connection } from './connection.ts'
import * as limits from './limits.ts'
import { MessageLog } from './message-log.ts'
import type { Logins } from './oauth/logins.ts'
import type { ServerLogin } from './oauth/server-login.ts'
import type { Params } from './peer.ts'
import { packageRunner, type ServerEntry } from './server-entry.ts'
import {
  describeError,
  failureWith,
  fieldsOf,
  hintFor,
  type ServerFailure,
  unavailable,
} from './server-failure.ts'
import { ServerOffers } from './server-offers.ts'
import { ServerRequests } from './server-requests.ts'
import { shownTarget } from './server-secrets.ts'
import type { ServerState, ServerStatus } from './server-status.ts'
import { ServerTools } from './server-tools.ts'
import { cancelTask, onTaskChange } from './tasks.ts'

/** What the servers of a configuration share. */
export interface McpHost {
  tools: ToolManager
  logins: Logins
  catalog: Catalog
  clock: Clock
  logger: Logger
  sample?: Sample | undefined
  /** How many times the first connection is tried before the server counts as failed and is retried slowly. */
  attempts: number
  baseDelayMs: number
  connectTimeoutMs: number
  onChange(server: McpServer, what: Change): void
  /** The first connection failed, and is retried slowly from now on; or it needs a login. */
  onFailed(server: McpServer, failure: ServerFailure, attempts: number): void
  /** A message for the user while a server takes long to start. */
  onProgress(text: string): void
}

/** `tools` if its tools changed too. */
export type Change = 'server' | 'tools'

type Event = 'attempt' | 'connected' | 'gaveUp' | 'lost' | 'refused' | 'stopped'

/** state → event → next state; an event that is not listed changes nothing. A failed server is retried as such. */
const STATES: Record<ServerState, Partial<Record<Event, ServerState>>> = {
  starting: { connected: 'ready', gaveUp: 'failed', lost: 'lost', refused: 'needs_login', stopped: 'closed' },
  ready: { lost: 'lost', stopped: 'closed' },
  lost: { attempt: 'starting', refused: 'needs_login', stopped: 'closed' },
  failed: { connected: 'ready', lost: 'lost', refused: 'needs_login', stopped: 'closed' },
  needs_login: { attempt: 'starting', lost: 'lost', stopped: 'closed' },
  closed: { attempt: 'starting', lost: 'lost' },
}

const MAX_CAPABILITIES = 20

/** One configured server, for as long as it is configured. Nothing that happens to it affects another server. */
export class McpServer {
  readonly name: string
  entry: ServerEntry
  order = 0
  readonly logger: Logger
  readonly messages = new MessageLog()
  requests: ServerRequests
  readonly offers: ServerOffers
  state: ServerState = 'starting'
  connection: Connection | undefined
  failure: ServerFailure | undefined
  #host: McpHost
  readonly #tools: ServerTools
  /** Logs what the server can cause as often as it likes. */
  readonly log: RateLimitedLog
  #junkLines = 0
  /** The current connection, and those that take no more calls but still have some pending. */
  readonly #open = new Set<Connection>()
  /** Aborts when the current round of connecting is over. */
  #round = new AbortController()
  #running: Promise<void> = Promise.resolve()
  /** The current attempt, or the last one: resolves to its failure, or `undefined` if the server is ready. */
  #attempt: Promise<ServerFailure | undefined> = Promise.resolve(undefined)
  #number = 0
  #nextAt: string | undefined
  /** Whether it was ever connected: it is then retried forever. */
  #wasReady = false
  /** Consecutive connections that ended soon, without being used: each makes the next one wait longer. */
  #shortLives = 0
  #askedMs = 0
  #startedAt = 0
  #readyAt = 0
  #readyAfterMs: number | undefined

  constructor(host: McpHost, name: string, entry: ServerEntry) {
    this.#host = host
    this.name = name
    this.entry = entry
    this.logger = host.logger.child({ server: name })
    this.log = new RateLimitedLog(this.logger, { clock: host.clock })
    this.#tools = new ServerTools(this, host)
    this.offers = new ServerOffers(this, host.catalog)
    this.requests = new ServerRequests(this, host.sample)
  }

  get login(): ServerLogin | undefined {
    return this.#host.logins.of(this.name)
  }

  /** Starts connecting. Resolves when the server is ready, has failed or needs a login; never rejects. */
  start(): Promise<void> {
    this.#startedAt = this.#host.clock.now()
    return this.#connect(1)
  }

  /** Whether it has not been connected since it was configured. */
  get isFirstStart(): boolean {
    return this.state === 'starting' && !this.#wasReady
  }

  /** The connection after the current attempt; `undefined` if that fails. */
  async reconnected(): Promise<Connection | undefined> {
    if (this.state === 'starting') await this.#attempt
    return this.connection
  }

  /** The error for a call that could not be made or finished because of `cause`; by default, the server's own failure. */
  unavailable(cause?: string): ToolFailureError {
    const failure = this.failure ?? failureWith('it is not connected')
    return unavailable(this.name, cause === undefined ? failure : { ...failure, cause }, this.#nextAt)
  }

  status(): ServerStatus {
    const { connection, failure, state } = this
    const isReady = state === 'ready'
    return {
      name: this.name,
      state,
      attempts: this.#number,
      tools: this.#tools.names(),
      error: isReady ? undefined : failure?.cause,
      stderr: connection?.transport.stderr ?? failure?.stderr ?? '',
      exitCode: failure?.exitCode ?? null,
      pid: connection?.transport.pid,
      junkLines: this.#junkLines,
      nextAttemptAt: this.#nextAt,
      readyAfterMs: this.#readyAfterMs,
      protocolVersion: connection?.protocolVersion,
      info: this.offers.info,
      target: shownTarget(this.entry),
      ...(connection && { capabilities: Object.keys(connection.capabilities).slice(0, MAX_CAPABILITIES) }),
      ...(isReady
        ? { readySince: Math.round(Date.now() - this.#livedMs) }
        : { hint: hintFor(this.name, this.entry) }),
    }
  }

  /** Resolves after the first attempt, whether or not it succeeded. Never rejects. */
  async tried(): Promise<void> {
    await this.#attempt
  }

  /** Closes the connection until it is restarted. Its tools stay, and say why they are unavailable. */
  async stop(): Promise<void> {
    this.logger.info({}, 'Stopping MCP server')
    await this.#end('stopped', 'it was stopped')
  }

  /** Closes the connection and opens a new one. Resolves when that has succeeded or failed. */
  async restart(): Promise<void> {
    this.logger.info({}, 'Restarting MCP server')
    const ended = this.#end('lost', 'it is being restarted')
    const round = this.#round
    await ended
    // It was closed, or restarted once more.
    if (round !== this.#round) return
    this.#shortLives = this.#askedMs = 0
    const connected = this.start()
    // A server that was ready before is retried forever, so only its first attempt is awaited.
    await (this.#wasReady ? this.#attempt : connected)
  }

  /** Starts the server that `entry` describes in place of the current one, which ends when its pending calls have. */
  replace(entry: ServerEntry, host: McpHost): Promise<void> {
    void this.#end('lost', 'it is being restarted', { afterCalls: true })
    this.#host = host
    this.entry = entry
    this.requests = new ServerRequests(this, host.sample)
    this.#tools.forget()
    this.#wasReady = false
    this.#shortLives = this.#askedMs = 0
    return this.start()
  }

  /** Takes no more calls, and ends when the pending ones have. */
  async remove(): Promise<void> {
    this.#tools.clear()
    this.offers.forget()
    await this.#end('stopped', 'it was removed from the configuration', { afterCalls: true })
  }

  /** Closes the connection and ends what it started. Resolves when everything is gone. */
  async close(): Promise<void> {
    await this.#end('stopped', 'it was closed')
    this.offers.forget()
  }

  /** Ends the connection at once, or as soon as its pending calls have ended. */
  async #end(event: Event, cause: string, { afterCalls = false } = {}): Promise<void> {
    const running = this.#running
    const { connection } = this
    this.failure = failureWith(cause, { stderr: connection?.transport.stderr ?? '' })
    this.connection = this.#nextAt = undefined
    this.#round.abort(new Error(cause))
    this.#round = new AbortController()
    this.#become(event)
    if (afterCalls) await connection?.idle()
    const ending = [...this.#open].filter(each => !afterCalls || each === connection)
    for (const each of ending) this.#open.delete(each)
    await Promise.all([...ending.map(each => each.close()), running])
    this.log.close()
  }

  #become(event: Event): void {
    this.state = STATES[this.state][event] ?? this.state
    this.changed('server')
  }

  changed(what: Change): void {
    this.#host.onChange(this, what)
  }

  problem(message: string): void {
    const fields = { problem: safeText(message) }
    this.log.write('warn', 'MCP connection problems', () => [fields, 'MCP connection problem'])
  }

  onNotification(method: string, params: Params, from?: Requester): void {
    if (method === 'notifications/tools/list_changed') this.#tools.refresh()
    else if (method === 'notifications/elicitation/complete') this.requests.completed(params)
    else if (method === 'notifications/tasks') onTaskChange(this, params.taskId)
    else this.offers.onNotification(method, params, from)
  }

  /** Only the first is a warning: a server that writes to the wrong stream keeps doing it. */
  onJunk(line: string): void {
    const message = `MCP server wrote a non-JSON-RPC line to stdout: ${safeText(line, 200)}`
    const level = this.#junkLines++ === 0 ? 'warn' : 'debug'
    this.log.write(level, 'Non-JSON-RPC lines on stdout', () => [{ line: safeText(line) }, message])
  }

  onStray({ id, result }: Params, isLate: boolean): void {
    const reason = isLate ? 'the call had already ended' : 'no pending call has its id'
    this.log.write(isLate ? 'info' : 'warn', `Dropped responses (${reason})`, () => [
      { id: safeText(JSON.stringify(id) ?? 'none') },
      `Dropped a response from an MCP server: ${reason}`,
    ])
    // Nobody waits for its result.
    if (isLate && isTask(result) && this.connection) cancelTask(this.connection, result.taskId)
  }

  get #livedMs(): number {
    return this.#host.clock.now() - this.#readyAt
  }

  onLost(connection: Connection, failure: ServerFailure): void {
    if (connection !== this.connection) return
    const wasOfUse = connection.hasAnswered || this.#livedMs >= limits.STABLE_AFTER_MS
    this.#shortLives = wasOfUse ? 0 : this.#shortLives + 1
    this.#open.delete(connection)
    this.connection = undefined
    this.failure = failure
    this.#become('lost')
    this.logger.error(fieldsOf(failure), 'MCP connection lost')
    this.#askedMs = failure.retryAfterMs ?? 0
    void this.#connect(Math.max(1, this.#shortLives))
  }

  /** Resolves when the server is ready, has failed or needs a login; retrying continues regardless. */
  #connect(firstAttempt: number): Promise<void> {
    return new Promise(settle => {
      this.#running = this.#tryUntilReady(firstAttempt, this.#round.signal, settle).finally(settle)
    })
  }

  async #tryUntilReady(firstAttempt: number, round: AbortSignal, settle: () => void): Promise<void> {
    for (let attempt = firstAttempt; ; attempt++) {
      const due = this.failure?.needsLogin
        ? this.#loggedIn(this.failure, round, settle)
        : this.#due(attempt, round)
      // No gap before an attempt that is due: a call that was interrupted waits for it.
      if (due) await due
      if (round.aborted) return
      this.#attempt = this.#tryOnce(round, attempt)
      const failure = await this.#attempt
      if (!failure || round.aborted) return
      this.failure = failure
      this.#askedMs = failure.retryAfterMs ?? 0
      attempt = failure.needsLogin ? 0 : this.#onMissed(failure, attempt, settle)
    }
  }

  /** Returns the number of the attempt to continue from: quick retries of a program that is missing are pointless. */
  #onMissed(failure: ServerFailure, attempt: number, settle: () => void): number {
    const { attempts, onFailed } = this.#host
    const isLast = !this.#wasReady && (failure.isPermanent || attempt >= attempts)
    if (!isLast) this.#wasReady ? this.#become('lost') : this.changed('server')
    else if (this.state !== 'failed') {
      // Reported once, not again while it keeps failing.
      this.#become('gaveUp')
      onFailed(this, failure, attempt)
      settle()
    }
    const nextMs = this.#delayBefore(attempt + 1)
    this.logger.warn(
      { attempt, ...fieldsOf(failure), next_delay_ms: nextMs },
      `MCP connection attempt ${attempt} failed, next one in ${nextMs} ms`,
    )
    return isLast ? Math.max(attempt, attempts) : attempt
  }

  /** Resolves when the login changes, or the round is over. */
  async #loggedIn(failure: ServerFailure, round: AbortSignal, settle: () => void): Promise<void> {
    this.failure = failureWith(failure.cause)
    const changed = new AbortController()
    const stop = this.login?.onChange(() => changed.abort())
    const over = once(AbortSignal.any([round, changed.signal]), 'abort')
    this.#become('refused')
    this.logger.warn(fieldsOf(failure), 'MCP server needs a login')
    this.#host.onFailed(this, failure, 0)
    settle()
    await over
    stop?.()
  }

  async #tryOnce(round: AbortSignal, attempt: number): Promise<ServerFailure | undefined> {
    const { clock, connectTimeoutMs } = this.#host
    const delayMs = this.#delayBefore(attempt)
    this.logger.info({ attempt, delay_ms: delayMs }, `MCP connection attempt ${attempt} after ${delayMs} ms`)
    this.#nextAt = undefined
    this.#become('attempt')
    // A package runner may have to download the server first, and must not be killed while it does.
    const runner = this.#wasReady ? undefined : packageRunner(this.entry)
    const limitMs = runner ? Math.max(connectTimeoutMs, limits.RUNNER_CONNECT_TIMEOUT_MS) : connectTimeoutMs
    const limit = new AbortController()
    const tooSlow = new Error(`no answer to the handshake within ${limitMs} ms`)
    const timers = [clock.setTimer(() => limit.abort(tooSlow), limitMs)]
    if (runner) timers.push(clock.setTimer(() => this.#reportDownload(runner, limitMs), connectTimeoutMs))
    const signal = AbortSignal.any([round, limit.signal])
    const opened = await Connection.open(this, signal).catch(error => failureWith(describeError(error)))
    for (const timer of timers) timer.cancel()
    if (!(opened instanceof Connection)) return opened
    if (round.aborted) await opened.close()
    else this.#adopt(opened, attempt)
    return undefined
  }

  #reportDownload(runner: string, limitMs: number): void {
    const cause = `'${runner}' is probably downloading it (up to ${limitMs / 1_000} s)`
    this.failure = failureWith(cause)
    this.logger.info({ limit_ms: limitMs }, `MCP server is still starting: ${cause}`)
    this.#host.onProgress(`⏳ Server '${this.name}' is still starting: ${cause}`)
    this.changed('server')
  }

  #adopt(connection: Connection, attempt: number): void {
    this.connection = connection
    this.#open.add(connection)
    this.#wasReady = true
    this.#askedMs = 0
    this.#readyAt = this.#host.clock.now()
    this.#readyAfterMs ??= Math.round(this.#readyAt - this.#startedAt)
    this.#tools.adopt(connection)
    this.offers.adopt(connection)
    this.#become('connected')
    const fields = { attempt, tools: this.#tools.names().length }
    this.logger.info(fields, `MCP connection succeeded on attempt ${attempt}`)
  }

  /** Waits until an attempt is due, or the round is over. */
  #due(attempt: number, round: AbortSignal): Promise<void> | undefined {
    const { clock, attempts } = this.#host
    const delayMs = this.#delayBefore(attempt)
    const isSlow = !this.#wasReady && attempt > attempts
    if (!isSlow) this.#number = attempt
    this.#nextAt = delayMs > 0 ? new Date(Date.now() + delayMs).toISOString() : undefined
    this.changed('server')
    if (delayMs <= 0) return undefined
    return new Promise(resolve => {
      const timer = clock.setTimer(resolve, delayMs)
      // Nobody waits for it, so it must not keep the process alive.
      if (isSlow) timer.hold(false)
      round.addEventListener('abort', () => resolve(timer.cancel()))
    })
  }

  #delayBefore(attempt: number): number {
    const { attempts, baseDelayMs } = this.#host
    const usualMs = this.#wasReady
      ? Math.min(doubled(attempt, limits.RECONNECT_BASE_DELAY_MS), limits.RECONNECT_MAX_DELAY_MS)
      : attempt > attempts
        ? Math.min(doubled(attempt - attempts + 1, limits.FAILED_RETRY_MS), limits.FAILED_MAX_RETRY_MS)
        : doubled(attempt, baseDelayMs)
    return Math.max(usualMs, this.#askedMs)
  }
}

/** The delay before attempt 1, 2, 3, …: 0, base, 2 × base, … */
function doubled(attempt: number, baseMs: number): number {
  return attempt <= 1 ? 0 : baseMs * 2 ** (attempt - 2)
}
