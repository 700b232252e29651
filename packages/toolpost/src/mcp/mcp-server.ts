import { isDeepStrictEqual } from 'node:util'
import type { Logger } from '../logging/logger.ts'
import { rateLimitedLog } from '../logging/rate-limit.ts'
import { withoutKnownSecretsIn } from '../logging/redact.ts'
import { safeText, safeValue } from '../logging/safe-value.ts'
import type { Requester } from '../tools/caller.ts'
import type { Tool } from '../tools/tool.ts'
import { ToolFailureError } from '../tools/tool-failure-error.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import { type Clock, unlessAborted } from '../util/clock.ts'
import { type Catalog, ServerOffers } from './catalog.ts'
import * as limits from './limits.ts'
import type { McpIntegrationOptions } from './mcp-integration.ts'
import { mcpTool } from './mcp-tool.ts'
import { MessageLog } from './message-log.ts'
import type { Logins } from './oauth/logins.ts'
import type { Params } from './peer.ts'
import { packageRunner, type ServerEntry } from './server-entry.ts'
import { describeError, failureIn, hintFor, lastLines, ServerFailure } from './server-failure.ts'
import { shownTarget } from './server-secrets.ts'
import type { ServerState, ServerStatus } from './server-status.ts'
import { Session } from './session.ts'
import { type McpToolDefinition, usableDefinitions } from './tool-definition.ts'

/** What all servers of a configuration share. */
export interface McpHost {
  /** Its figures may change. */
  options: Pick<McpIntegrationOptions, 'retry' | 'connectTimeoutMs' | 'sample'>
  tools: ToolManager
  logins: Logins
  catalog: Catalog
  clock: Clock
  logger: Logger
  onChange(server: McpServer): void
  onFailed(server: McpServer): void
  onProgress(text: string): void
}

const MAX_LINES = 20
/** Maps the levels of MCP, which are those of syslog, to ours. */
const LEVELS = { debug: 'debug', info: 'info', notice: 'info', warning: 'warn' } as const

/** One configured server, for as long as it is configured. Nothing that happens to it affects another server. */
export class McpServer {
  readonly host: McpHost
  readonly name: string
  entry: ServerEntry
  order = 0
  readonly logger: Logger
  readonly messages = new MessageLog()
  readonly offers: ServerOffers
  /** How many of its questions are open. */
  openQuestions = 0
  state: ServerState = 'starting'
  /** The number of the latest attempt to connect. */
  attempt = 0
  session: Session | undefined
  failure: ServerFailure | undefined
  readonly #log: ReturnType<typeof rateLimitedLog>
  /** The current session, and those that take no more calls but still have some pending. */
  readonly #open = new Set<Session>()
  /** Aborts when the current round of connecting is over. */
  #round = new AbortController()
  #running: Promise<void> = Promise.resolve()
  /** Called at the next change of state. */
  readonly #waiting: (() => void)[] = []
  #nextAt: string | undefined
  /** Whether it was ever connected: it is then retried forever. */
  #wasReady = false
  #readySince = 0
  #junkLines = 0
  #definitions = new Map<string, McpToolDefinition>()
  #isRefreshing = false
  #isStale = false

  constructor(host: McpHost, name: string, entry: ServerEntry) {
    this.host = host
    this.name = name
    this.entry = entry
    this.logger = host.logger.child({ server: name })
    this.#log = rateLimitedLog(this.logger, { clock: host.clock })
    this.offers = new ServerOffers(this)
  }

  start(): void {
    this.#running = this.#run()
  }

  /** Whether it is connecting, or about to: neither connected nor waiting for anything. */
  get #isConnecting(): boolean {
    return (this.state === 'starting' || this.state === 'lost') && this.#nextAt === undefined
  }

  get isFirstStart(): boolean {
    return !this.#wasReady && (this.state === 'starting' || this.state === 'lost')
  }

  /** Resolves when the server is ready for the first time, has failed or needs a login; retrying continues regardless. */
  ready(): Promise<void> {
    return this.#until(() => !this.isFirstStart)
  }

  /** The session after the current attempt; `undefined` if that fails. */
  async tried(): Promise<Session | undefined> {
    await this.#until(() => !this.#isConnecting)
    return this.session
  }

  async #until(isSo: () => boolean): Promise<void> {
    while (!isSo()) await new Promise<void>(resolve => this.#waiting.push(resolve))
  }

  /** The error for a call that could not be made or finished because of `cause`; by default, the server's own failure. */
  unavailable(cause = this.failure?.message ?? 'it is not connected'): ToolFailureError {
    const { stderr = '', exitCode = null, retryAfterMs } = this.failure ?? {}
    const next = this.#nextAt !== undefined && { nextAttemptAt: this.#nextAt }
    const details = { server: this.name, stderr: lastLines(stderr), exitCode, ...next }
    const message = `The ${this.name} service is unavailable: ${cause}`
    return new ToolFailureError('unavailable', message, { diagnosis: { details }, retryAfterMs })
  }

  status(): ServerStatus {
    const { session, failure, state } = this
    const isReady = state === 'ready'
    return {
      name: this.name,
      state,
      attempts: this.attempt,
      tools: this.#registered().map(tool => tool.name),
      error: isReady ? undefined : failure?.message,
      stderr: session?.transport.stderr ?? failure?.stderr ?? '',
      exitCode: failure?.exitCode ?? null,
      pid: session?.transport.pid,
      junkLines: this.#junkLines,
      nextAttemptAt: this.#nextAt,
      protocolVersion: session?.protocolVersion,
      info: session?.info,
      target: shownTarget(this.entry),
      capabilities: session && Object.keys(session.capabilities).slice(0, MAX_LINES),
      readySince: isReady ? this.#readySince : undefined,
      hint: isReady ? undefined : hintFor(this.name, this.entry),
    }
  }

  /** Closes the session and ends what it started. Its tools stay, and say why they are unavailable. */
  async stop(cause = 'it was stopped'): Promise<void> {
    await this.#end('closed', cause)
  }

  /** Closes the session and opens a new one. Resolves when the first attempt has succeeded or failed. */
  async restart(): Promise<void> {
    const ended = this.#end('lost', 'it is being restarted')
    const round = this.#round
    await ended
    // It was closed, or restarted once more.
    if (round !== this.#round) return
    this.start()
    await this.tried()
  }

  /** Starts the server that `entry` describes in place of the current one, which ends when its pending calls have. */
  replace(entry: ServerEntry): void {
    void this.#end('lost', 'it is being restarted', true)
    this.entry = entry
    this.#definitions.clear()
    this.#wasReady = false
    this.start()
  }

  async remove(): Promise<void> {
    this.host.tools.removeAll(this.#registered().map(tool => tool.name))
    this.offers.forget()
    await this.#end('closed', 'it was removed from the configuration', true)
  }

  async #end(state: ServerState, cause: string, afterCalls = false): Promise<void> {
    const { session } = this
    const running = this.#running
    this.failure = new ServerFailure(cause, { stderr: session?.transport.stderr ?? '' })
    this.session = this.#nextAt = undefined
    this.#round.abort(new Error(cause))
    this.#round = new AbortController()
    this.#become(state)
    if (afterCalls) await session?.idle()
    const ending = afterCalls ? [session] : [...this.#open]
    await Promise.all([...ending.map(each => each?.close()), running])
    for (const each of ending) if (each) this.#open.delete(each)
  }

  #become(state: ServerState): void {
    this.state = state
    this.#tell()
  }

  #tell(): void {
    this.host.onChange(this)
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  problem(message: string): void {
    const fields = { problem: safeText(message) }
    this.#log.write('warn', 'MCP connection problems', () => [fields, 'MCP connection problem'])
  }

  onNotification(method: string, params: Params, from?: Requester): void {
    if (method === 'notifications/tools/list_changed') void this.#refreshTools()
    else if (method === 'notifications/resources/list_changed') this.offers.changed('resources')
    else if (method === 'notifications/prompts/list_changed') this.offers.changed('prompts')
    else if (method === 'notifications/message') this.#onLog(params, from)
    else if (method === 'notifications/resources/updated')
      for (const listener of this.offers.followed.get(String(params.uri)) ?? []) listener()
  }

  /** Logs what the server logs through the protocol, and passes it on to whoever made the call. */
  #onLog({ level: given, data, logger }: Params, from: Requester | undefined): void {
    const level = typeof given === 'string' ? given : 'info'
    const ours = LEVELS[level as 'info'] ?? 'error'
    this.#log.write(ours, `Log messages from an MCP server (${ours})`, () => {
      const shown = safeValue(data)
      const text = typeof shown === 'string' ? shown : (JSON.stringify(shown) ?? '')
      return [{ data: shown }, `MCP server: ${safeText(text)}`]
    })
    const name = typeof logger === 'string' ? logger : this.name
    from?.onLog?.({ level, data: withoutKnownSecretsIn(data), logger: name })
  }

  /** Only the first is a warning: a server that writes to the wrong stream keeps doing it. */
  onJunk(line: string): void {
    const message = `MCP server wrote a non-JSON-RPC line to stdout: ${safeText(line, 200)}`
    const level = this.#junkLines++ === 0 ? 'warn' : 'debug'
    this.#log.write(level, 'Non-JSON-RPC lines on stdout', () => [{ line: safeText(line) }, message])
  }

  onStray({ id }: Params, isLate: boolean): void {
    const reason = isLate ? 'the call had already ended' : 'no pending call has its id'
    const fields = { id: safeText(JSON.stringify(id) ?? 'none') }
    const message = `Dropped a response from an MCP server: ${reason}`
    this.#log.write(isLate ? 'info' : 'warn', `Dropped responses (${reason})`, () => [fields, message])
  }

  onLost(session: Session, failure: ServerFailure): void {
    if (session !== this.session) return
    this.#open.delete(session)
    this.session = undefined
    this.failure = failure
    this.#become('lost')
    this.logger.error(failure.logFields, 'MCP connection lost')
  }

  /** Connects, and connects again whenever the connection is lost, until the round is over. */
  async #run(): Promise<void> {
    const { signal: round } = this.#round
    /** Consecutive sessions that ended soon, without being used: each makes the next one wait longer. */
    let shortLives = 0
    for (let attempt = 1; !round.aborted; attempt++) {
      await this.#wait(attempt, round)
      if (round.aborted) return
      const session = await this.#try(attempt, round)
      if (session) {
        await this.#until(() => this.session !== session)
        const isStable = Date.now() - this.#readySince >= limits.STABLE_AFTER_MS
        shortLives = session.hasAnswered || isStable ? 0 : shortLives + 1
        attempt = Math.max(0, shortLives - 1)
      } else if (this.failure?.kind === 'needs_login') attempt = 0
      else if (!round.aborted) this.#onFailedAttempt(attempt)
    }
  }

  /** Resolves when it is time for an attempt, the user has logged in, or the round is over. */
  async #wait(attempt: number, round: AbortSignal): Promise<void> {
    const { failure, host, name } = this
    const delayMs = this.#delayBefore(attempt)
    const needsLogin = failure?.kind === 'needs_login'
    if (!needsLogin && delayMs === 0) return
    let stop: (() => void) | undefined
    const isDue = new Promise<void>(resolve => {
      const timer = needsLogin ? undefined : this.host.clock.setTimer(resolve, delayMs)
      // Nobody waits for a server that has failed, so it must not keep the process alive.
      timer?.hold(this.state !== 'failed')
      stop = timer?.cancel ?? host.logins.of(name)?.onChange(resolve)
    })
    if (needsLogin) {
      this.logger.warn(failure.logFields, 'MCP server needs a login')
      this.#become('needs_login')
      host.onFailed(this)
    } else {
      this.#nextAt = new Date(Date.now() + delayMs).toISOString()
      this.#tell()
    }
    await unlessAborted(isDue, round).catch(() => {})
    stop?.()
  }

  /** Resolves to the session; to `undefined` if that failed, and `failure` says why. */
  async #try(attempt: number, round: AbortSignal): Promise<Session | undefined> {
    const { clock, options } = this.host
    const { connectTimeoutMs = limits.CONNECT_TIMEOUT_MS } = options
    const delayMs = this.#delayBefore(attempt)
    this.logger.info({ attempt, delay_ms: delayMs }, `MCP connection attempt ${attempt} after ${delayMs} ms`)
    this.#nextAt = undefined
    this.attempt = attempt
    // A server that has failed is retried as such.
    this.#become(this.state === 'failed' ? 'failed' : 'starting')
    // A package runner may have to download the server first, and must not be killed while it does.
    const runner = this.#wasReady ? undefined : packageRunner(this.entry)
    const limitMs = runner ? Math.max(connectTimeoutMs, limits.RUNNER_CONNECT_TIMEOUT_MS) : connectTimeoutMs
    const limit = new AbortController()
    const tooSlow = new Error(`no answer to the handshake within ${limitMs} ms`)
    const timers = [clock.setTimer(() => limit.abort(tooSlow), limitMs)]
    if (runner) timers.push(clock.setTimer(() => this.#reportDownload(runner, limitMs), connectTimeoutMs))
    try {
      const session = await Session.open(this, AbortSignal.any([round, limit.signal]))
      if (round.aborted) await session.close()
      else this.#adopt(session, attempt)
      return session
    } catch (error) {
      if (!round.aborted) this.failure = failureIn(error) ?? new ServerFailure(describeError(error))
      return undefined
    } finally {
      for (const timer of timers) timer.cancel()
    }
  }

  #onFailedAttempt(attempt: number): void {
    const { failure = new ServerFailure('') } = this
    const { attempts = limits.MCP_RETRY_ATTEMPTS } = this.host.options.retry ?? {}
    const hasFailed = !this.#wasReady && (failure.kind === 'permanent' || attempt >= attempts)
    // Reported once, not again while it keeps failing.
    if (hasFailed && this.state !== 'failed') this.host.onFailed(this)
    if (hasFailed) this.#become('failed')
    else if (this.#wasReady) this.#become('lost')
    const nextMs = this.#delayBefore(attempt + 1)
    const fields = { attempt, ...failure.logFields, next_delay_ms: nextMs }
    this.logger.warn(fields, `MCP connection attempt ${attempt} failed, next one in ${nextMs} ms`)
  }

  #reportDownload(runner: string, limitMs: number): void {
    const cause = `'${runner}' is probably downloading it (up to ${limitMs / 1_000} s)`
    this.failure = new ServerFailure(cause)
    this.logger.info({ limit_ms: limitMs }, `MCP server is still starting: ${cause}`)
    this.host.onProgress(`⏳ Server '${this.name}' is still starting: ${cause}`)
    this.host.onChange(this)
  }

  #adopt(session: Session, attempt: number): void {
    this.session = session
    this.#open.add(session)
    this.#wasReady = true
    this.#readySince = Date.now()
    this.#updateTools(session.tools, session)
    if (this.#isStale) void this.#refreshTools()
    // What was known from the session before may no longer hold.
    for (const kind of ['resources', 'prompts'] as const) if (this.offers.has(kind)) this.offers.changed(kind)
    this.#become('ready')
    const tools = this.#registered().length
    this.logger.info({ attempt, tools }, `MCP connection succeeded on attempt ${attempt}`)
  }

  /** 0, base, 2 × base, …; longer if the server asks for more time. */
  #delayBefore(attempt: number): number {
    const { baseDelayMs = limits.MCP_RETRY_BASE_DELAY } = this.host.options.retry ?? {}
    const [baseMs, maxMs] = this.#wasReady
      ? [limits.RECONNECT_BASE_DELAY_MS, limits.RECONNECT_MAX_DELAY_MS]
      : [baseDelayMs, limits.MAX_RETRY_MS]
    const usualMs = attempt <= 1 ? 0 : Math.min(baseMs * 2 ** (attempt - 2), maxMs)
    return Math.max(usualMs, this.failure?.retryAfterMs ?? 0)
  }

  #registered(): Tool[] {
    const { tools } = this.host
    return tools.getTools().filter(tool => tools.originOf(tool)?.server === this.name)
  }

  /** Lists the server's tools again, or once more if that is in progress; less and less often while they keep changing. */
  async #refreshTools(): Promise<void> {
    this.#isStale = true
    if (this.#isRefreshing) return
    this.#isRefreshing = true
    const { clock, options } = this.host
    const { connectTimeoutMs = limits.CONNECT_TIMEOUT_MS } = options
    for (let pauseMs = limits.LIST_PAUSE_MS; this.#isStale && this.session; pauseMs *= 2) {
      this.#isStale = false
      const { session } = this
      await session
        .list('tools', connectTimeoutMs)
        .then(listed => this.#updateTools(listed, session))
        .catch(error => this.problem(`Could not list the server's changed tools: ${describeError(error)}`))
      const waitMs = Math.min(pauseMs, limits.LIST_MAX_PAUSE_MS)
      await new Promise<void>(resolve => clock.setTimer(resolve, waitMs).hold(false))
    }
    this.#isRefreshing = false
  }

  /** Adds new tools, replaces changed ones and removes those that are gone; the rest is untouched. */
  #updateTools(listed: readonly unknown[], session: Session): void {
    const { tools } = this.host
    const { name: server, order, entry, logger } = this
    if (session !== this.session) return
    const known = this.#definitions
    const { definitions, warnings } = usableDefinitions(listed, entry, session.mirrorsArguments)
    for (const warning of warnings.slice(0, MAX_LINES)) logger.warn(...warning)
    this.#definitions = definitions
    const changed = [...definitions.values()].filter(each => !isDeepStrictEqual(known.get(each.name), each))
    const gone = this.#registered()
      .filter(tool => !definitions.has(tools.originOf(tool)?.name ?? tool.name))
      .map(tool => tool.name)
    tools.removeAll(gone)
    if (gone.length > 0) logger.info({ tools: gone.slice(0, MAX_LINES) }, 'MCP tools removed')
    for (const after of changed.filter(({ name }) => known.has(name)).slice(0, MAX_LINES)) {
      const before = known.get(after.name)
      const keys = Object.keys(after) as (keyof McpToolDefinition)[]
      const changes = keys.filter(key => !isDeepStrictEqual(before?.[key], after[key]))
      const tool = safeText(after.name)
      logger.warn({ tool, changes }, `The definition of MCP tool '${tool}' changed`)
    }
    if (changed.length > 0)
      tools.addMcpTools(
        changed.map(definition => mcpTool(definition, this)),
        { server, order, ...(entry.parameterNames && { parameterNames: entry.parameterNames }) },
      )
    if (gone.length + changed.length > 0) this.host.onChange(this)
  }
}
