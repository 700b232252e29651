import type { Logger } from '../logging/logger.ts'
import { RateLimitedLog } from '../logging/rate-limit.ts'
import { safeText, safeValue } from '../logging/safe-value.ts'
import type { Requester, Sample } from '../tools/caller.ts'
import type { ToolFailureError } from '../tools/tool-failure-error.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import type { Clock, Timer } from '../util/clock.ts'
import { isTask } from './call-result.ts'
import { Connection, type ConnectionOptions } from './connection.ts'
import { hintFor } from './failure-report.ts'
import {
  FAILED_MAX_RETRY_MS,
  FAILED_RETRY_MS,
  RECONNECT_BASE_DELAY_MS,
  RECONNECT_MAX_DELAY_MS,
  RUNNER_CONNECT_TIMEOUT_MS,
  STABLE_AFTER_MS,
} from './limits.ts'
import { MessageLog } from './message-log.ts'
import type { ServerLogin } from './oauth/server-login.ts'
import { packageRunner, type ServerEntry } from './server-entry.ts'
import { describeError, failureWith, type ServerFailure, unavailable } from './server-failure.ts'
import { type OfferEvents, ServerOffers } from './server-offers.ts'
import { ServerRequests } from './server-requests.ts'
import { shownTarget } from './server-secrets.ts'
import type { ServerState, ServerStatus } from './server-status.ts'
import { ServerTools } from './server-tools.ts'
import { cancelTask, onTaskChange, taskOf } from './tasks.ts'

export interface McpServerOptions {
  name: string
  entry: ServerEntry
  /** Its position in the configuration. */
  order: number
  tools: ToolManager
  login: ServerLogin | undefined
  /** How many times the first connection is tried before the server counts as failed and is retried slowly. */
  attempts: number
  baseDelayMs: number
  connectTimeoutMs: number
  clock: Clock
  logger: Logger
  sample?: Sample | undefined
  /** Receives changes of its resources and prompts. */
  offers: OfferEvents
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
/** Maps the levels of MCP, which are those of syslog, to ours. */
const LEVELS = { debug: 'debug', info: 'info', notice: 'info', warning: 'warn' } as const

/** One configured server, for as long as the program runs. Nothing that happens to it affects another server. */
export class McpServer {
  readonly name: string
  readonly entry: ServerEntry
  readonly logger: Logger
  readonly messages = new MessageLog()
  /** Answers its own requests. */
  readonly requests: ServerRequests
  /** What it offers besides tools. */
  readonly offers: ServerOffers
  state: ServerState = 'starting'
  /** The current connection, if any. */
  connection: Connection | undefined
  failure: ServerFailure | undefined
  /** The server that replaced this one, if any. */
  successor: McpServer | undefined
  readonly #options: McpServerOptions
  readonly #tools: ServerTools
  readonly #connectionOptions: ConnectionOptions
  /** For events a server can cause as often as it likes. */
  readonly #limited: RateLimitedLog
  #junkLines = 0
  /** A connection that takes no more calls, but still has some pending. */
  #retiring: Connection | undefined
  #isClosed = false
  /** The current round of connecting: an older one stops when it wakes up. */
  #round = 0
  #running: Promise<void> = Promise.resolve()
  #opening: AbortController | undefined
  /** The current attempt, or the last one: resolves to its failure, or `undefined` if the server is ready. */
  #attempt: Promise<ServerFailure | undefined> = Promise.resolve(undefined)
  /** The number of the attempt as it is shown. */
  #number = 0
  #nextAt: string | undefined
  #wake: (() => void) | undefined
  #timer: Timer | undefined
  /** Whether it was ever connected: it is then retried forever. */
  #wasReady = false
  /** Consecutive connections that ended soon, without being used: each makes the next one wait longer. */
  #shortLives = 0
  /** The server's Retry-After. */
  #askedMs = 0
  #startedAt = 0
  #readyAt = 0
  #readyAfterMs: number | undefined
  #readySince: number | undefined

  constructor(options: McpServerOptions) {
    const { name, entry, clock, logger, sample, login } = options
    this.name = name
    this.entry = entry
    this.#options = options
    this.logger = logger.child({ server: name })
    this.#limited = new RateLimitedLog(this.logger, { clock })
    this.#tools = new ServerTools(this, options, () => options.onChange(this, 'tools'))
    this.offers = new ServerOffers(this, options.offers)
    const onRefused = (reason: string) => this.problem(reason)
    this.requests = new ServerRequests({ server: name, entry, sample, onRefused })
    this.#connectionOptions = {
      entry,
      login,
      requests: this.requests,
      messages: this.messages,
      events: {
        lost: failure => this.#onLost(failure),
        notification: (method, params, from) => this.#onNotification(method, params, from),
        junk: line => this.#onJunk(line),
        stray: (message, isLate) => this.#onStray(message, isLate),
        problem: message => this.problem(message),
      },
    }
  }

  /** Starts connecting. Resolves when the server is ready or has failed; never rejects. */
  start(): Promise<void> {
    this.#startedAt = this.#options.clock.now()
    return this.#connect(1)
  }

  /** Sets its position in the configuration. */
  moveTo(order: number): void {
    this.#tools.order = order
  }

  /** The connection after the current attempt; `undefined` if that fails. */
  async reconnected(): Promise<Connection | undefined> {
    if (this.successor) return this.successor.reconnected()
    if (this.state === 'starting') await this.#attempt
    return this.connection
  }

  /** The error for a call that could not be made or finished because of `cause`; by default, the server's own failure. */
  unavailable(cause?: string): ToolFailureError {
    if (this.successor && cause === undefined) return this.successor.unavailable()
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
      stderr: connection?.stderr ?? failure?.stderr ?? '',
      exitCode: failure?.exitCode ?? null,
      pid: connection?.pid,
      junkLines: this.#junkLines,
      nextAttemptAt: this.#nextAt,
      readyAfterMs: this.#readyAfterMs,
      protocolVersion: connection?.protocolVersion,
      info: this.offers.info,
      target: shownTarget(this.entry),
      ...(connection && { capabilities: Object.keys(connection.capabilities).slice(0, MAX_CAPABILITIES) }),
      ...(isReady ? { readySince: this.#readySince } : { hint: hintFor(this.name, this.entry) }),
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
    await this.#end('lost', 'it is being restarted')
    if (this.#isClosed) return
    this.#shortLives = this.#askedMs = 0
    const connected = this.start()
    // A server that was ready before is retried forever, so only its first attempt is awaited.
    await (this.#wasReady ? this.#attempt : connected)
  }

  /** Takes no more calls, and closes once the pending ones have ended. `successor`, if any, takes its place. */
  async retire(successor?: McpServer): Promise<void> {
    this.successor = successor
    this.#retiring = this.connection
    this.connection = undefined
    if (!successor) this.#tools.clear()
    await this.#retiring?.idle()
    this.#isClosed = true
    await this.#end('stopped', 'it was removed from the configuration')
  }

  /** Closes the connection and ends what it started. Resolves when everything is gone. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#end('stopped', 'it was closed')
    this.offers.forget()
  }

  /** Logs a problem outside any call. */
  problem(message: string): void {
    const fields = { problem: safeText(message) }
    this.#limited.write('warn', 'MCP connection problems', () => [fields, 'MCP connection problem'])
  }

  /** Logs what the server logs through the protocol, at its own level. */
  message(level: string, data: unknown): void {
    const ours = Object.hasOwn(LEVELS, level) ? LEVELS[level as keyof typeof LEVELS] : 'error'
    this.#limited.write(ours, `Log messages from an MCP server (${ours})`, () => {
      const shown = safeValue(data)
      const text = typeof shown === 'string' ? shown : (JSON.stringify(shown) ?? '')
      return [{ data: shown }, `MCP server: ${safeText(text)}`]
    })
  }

  async #end(event: Event, cause: string): Promise<void> {
    const connection = this.connection ?? this.#retiring
    this.connection = this.#retiring = undefined
    this.failure = { ...failureWith(cause), stderr: connection?.stderr ?? '' }
    this.#round++
    this.#wakeUp()
    this.#become(event)
    this.#opening?.abort(new Error(cause))
    await Promise.all([connection?.close(), this.#running])
    this.#limited.close()
  }

  #become(event: Event): void {
    this.state = STATES[this.state][event] ?? this.state
    this.#changed()
  }

  #changed(): void {
    this.#options.onChange(this, 'server')
  }

  #onNotification(method: string, params: Readonly<Record<string, unknown>>, from?: Requester): void {
    if (method === 'notifications/tools/list_changed') this.#tools.refresh()
    else if (method === 'notifications/elicitation/complete') this.requests.completed(params)
    else if (method === 'notifications/tasks') onTaskChange(this, params.taskId)
    else this.offers.notice(method, params, from)
  }

  /** Only the first is a warning: a server that writes to the wrong stream keeps doing it. */
  #onJunk(line: string): void {
    const message = `MCP server wrote a non-JSON-RPC line to stdout: ${safeText(line, 200)}`
    const level = this.#junkLines++ === 0 ? 'warn' : 'debug'
    this.#limited.write(level, 'Non-JSON-RPC lines on stdout', () => [{ line: safeText(line) }, message])
  }

  #onStray({ id, result }: Readonly<Record<string, unknown>>, isLate: boolean): void {
    const fields = { id: safeText(JSON.stringify(id) ?? 'none') }
    if (isLate)
      this.#limited.write('info', 'Late responses from an MCP server', () => [
        fields,
        'Dropped a late response from an MCP server: the call had already ended',
      ])
    else
      this.#limited.write('warn', 'Responses without a pending call', () => [
        fields,
        'Dropped a response from an MCP server: no pending call with this id',
      ])
    // Nobody waits for its result.
    if (isLate && isTask(result) && this.connection) cancelTask(this.connection, taskOf(result).id)
  }

  /** Resolves when the server is ready, has failed or needs a login; retrying continues regardless. */
  #connect(firstAttempt: number): Promise<void> {
    return new Promise(settle => {
      this.#running = this.#tryUntilReady(++this.#round, firstAttempt, settle).finally(settle)
    })
  }

  async #tryUntilReady(round: number, firstAttempt: number, settle: () => void): Promise<void> {
    for (let attempt = firstAttempt; ; attempt++) {
      const due = this.failure?.needsLogin ? this.#login(this.failure, settle) : this.#due(attempt)
      // No gap before an attempt that is due: a call that was interrupted waits for it.
      if (due) await due
      if (round !== this.#round) return
      this.#attempt = this.#tryOnce(round, attempt)
      const failure = await this.#attempt
      if (!failure || round !== this.#round) return
      this.#askedMs = failure.retryAfterMs ?? 0
      if (failure.needsLogin) attempt = 0
      else attempt = this.#onMissed(failure, attempt, settle)
    }
  }

  /** Returns the number of the attempt to continue from: quick retries of a program that is missing are pointless. */
  #onMissed(failure: ServerFailure, attempt: number, settle: () => void): number {
    const { attempts, onFailed } = this.#options
    const isLast = !this.#wasReady && (failure.isPermanent || attempt >= attempts)
    if (!isLast && this.#wasReady) this.#become('lost')
    else if (!isLast) this.#changed()
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

  /** Resolves when the login changes, or the server is restarted or closed. */
  async #login(failure: ServerFailure, settle: () => void): Promise<void> {
    this.failure = failureWith(failure.cause)
    const stop = this.#options.login?.onChange(() => this.#wakeUp())
    const woken = this.#untilWoken()
    this.#become('refused')
    this.logger.warn(fieldsOf(failure), 'MCP server needs a login')
    this.#options.onFailed(this, failure, 0)
    settle()
    await woken
    stop?.()
  }

  async #tryOnce(round: number, attempt: number): Promise<ServerFailure | undefined> {
    const { clock, connectTimeoutMs } = this.#options
    const controller = new AbortController()
    this.#opening = controller
    const delayMs = this.#delayBefore(attempt)
    this.logger.info({ attempt, delay_ms: delayMs }, `MCP connection attempt ${attempt} after ${delayMs} ms`)
    this.#become('attempt')
    // A package runner may have to download the server first, and must not be killed while it does.
    const runner = this.#wasReady ? undefined : packageRunner(this.entry)
    const limitMs = runner ? Math.max(connectTimeoutMs, RUNNER_CONNECT_TIMEOUT_MS) : connectTimeoutMs
    const tooSlow = new Error(`no answer to the handshake within ${limitMs} ms`)
    const timers = [clock.setTimer(() => controller.abort(tooSlow), limitMs)]
    if (runner) timers.push(clock.setTimer(() => this.#tellDownload(runner, limitMs), connectTimeoutMs))
    const opened = await Connection.open(this.#connectionOptions, controller.signal).catch(error =>
      failureWith(describeError(error)),
    )
    for (const timer of timers) timer.cancel()
    if (!(opened instanceof Connection)) {
      if (round === this.#round) this.failure = opened
      return opened
    }
    if (round === this.#round) this.#adopt(opened, attempt)
    else await opened.close()
    return undefined
  }

  #tellDownload(runner: string, limitMs: number): void {
    const cause = `'${runner}' is probably downloading it (up to ${limitMs / 1_000} s)`
    this.failure = failureWith(cause)
    this.logger.info({ limit_ms: limitMs }, `MCP server is still starting: ${cause}`)
    this.#options.onProgress(`⏳ Server '${this.name}' is still starting: ${cause}`)
    this.#changed()
  }

  #adopt(connection: Connection, attempt: number): void {
    const { clock } = this.#options
    this.connection = connection
    this.#wasReady = true
    this.#askedMs = 0
    this.#readyAt = clock.now()
    this.#readyAfterMs ??= Math.round(this.#readyAt - this.#startedAt)
    this.#tools.adopt(connection)
    this.offers.adopt(connection)
    this.#readySince = Date.now()
    this.#become('connected')
    const fields = { attempt, tools: this.#tools.names().length }
    this.logger.info(fields, `MCP connection succeeded on attempt ${attempt}`)
  }

  #onLost(failure: ServerFailure): void {
    if (this.#retiring) return
    const wasOfUse =
      this.connection?.hasAnswered === true || this.#options.clock.now() - this.#readyAt >= STABLE_AFTER_MS
    this.#shortLives = wasOfUse ? 0 : this.#shortLives + 1
    this.connection = undefined
    this.failure = failure
    this.#become('lost')
    this.logger.error(fieldsOf(failure), 'MCP connection lost')
    this.#askedMs = failure.retryAfterMs ?? 0
    void this.#connect(Math.max(1, this.#shortLives))
  }

  /** Waits until an attempt is due. */
  #due(attempt: number): Promise<void> | undefined {
    const { clock, attempts } = this.#options
    const delayMs = this.#delayBefore(attempt)
    const isSlow = !this.#wasReady && attempt > attempts
    if (!isSlow) this.#number = attempt
    this.#nextAt = delayMs > 0 ? new Date(Date.now() + delayMs).toISOString() : undefined
    this.#changed()
    if (delayMs <= 0) return undefined
    this.#timer = clock.setTimer(() => this.#wakeUp(), delayMs)
    // Nobody waits for it, so it must not keep the process alive.
    if (isSlow) this.#timer.hold(false)
    return this.#untilWoken()
  }

  #untilWoken(): Promise<void> {
    return new Promise(resolve => {
      this.#wake = resolve
    })
  }

  #wakeUp(): void {
    this.#nextAt = undefined
    this.#timer?.cancel()
    this.#wake?.()
  }

  #delayBefore(attempt: number): number {
    const { attempts, baseDelayMs } = this.#options
    const isSlow = attempt > attempts
    const usualMs = this.#wasReady
      ? Math.min(doubled(attempt, RECONNECT_BASE_DELAY_MS), RECONNECT_MAX_DELAY_MS)
      : isSlow
        ? Math.min(doubled(attempt - attempts + 1, FAILED_RETRY_MS), FAILED_MAX_RETRY_MS)
        : doubled(attempt, baseDelayMs)
    return Math.max(usualMs, this.#askedMs)
  }
}

/** The delay before attempt 1, 2, 3, …: 0, base, 2 × base, … */
function doubled(attempt: number, baseMs: number): number {
  return attempt <= 1 ? 0 : baseMs * 2 ** (attempt - 2)
}

const LOGGED_STDERR_CHARACTERS = 4_000

/** A failure as log fields. */
export function fieldsOf({ cause, stderr, exitCode, exitSignal }: ServerFailure): object {
  return {
    error: safeText(cause),
    ...(exitCode !== null && { exit_code: exitCode }),
    ...(exitSignal !== null && { exit_signal: exitSignal }),
    ...(stderr !== '' && {
      stderr: safeText(stderr.slice(-LOGGED_STDERR_CHARACTERS), LOGGED_STDERR_CHARACTERS),
    }),
  }
}
