import { isDeepStrictEqual } from 'node:util'
import type { Logger } from '../logging/logger.ts'
import { quietLogger } from '../logging/quiet-logger.ts'
import { systemClock } from '../runtime/clock.ts'
import { Listeners } from '../runtime/listeners.ts'
import { quietly } from '../runtime/quietly.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import { Catalog } from './catalog.ts'
import { describeFailure, describeLogin } from './failure-report.ts'
import { checkServerEntries, type McpIntegrationOptions } from './integration-options.ts'
import { CONNECT_TIMEOUT_MS, MCP_RETRY_ATTEMPTS, MCP_RETRY_BASE_DELAY } from './limits.ts'
import { Logins } from './oauth/logins.ts'
import { type Change, ServerConnection } from './server-connection.ts'
import type { ServerEntry } from './server-entry.ts'
import { describeError, type ServerFailure } from './server-failure.ts'
import type { ServerStatus } from './server-status.ts'

const CLOSED = 'This McpIntegration is closed'

/** Receives a server's current status. If it throws, that is logged once and affects nothing else. */
export type ServerListener = (status: ServerStatus) => void

/**
 * The MCP servers of a configuration, and their tools in a ToolManager. Servers are independent: one that is slow, broken or
 * gone holds up neither the start nor the others. Throws on an unusable entry.
 */
export class McpIntegration {
  /** Resources and prompts of all servers together. */
  readonly catalog: Catalog
  /** The logins to servers over HTTP. */
  readonly logins: Logins
  #options: McpIntegrationOptions
  readonly #logger: Logger
  #connections: ServerConnection[] = []
  #tools: ToolManager | undefined
  /** Connections no longer in the configuration, until their pending calls have ended. */
  readonly #retired = new Set<ServerConnection>()
  readonly #ready = new Map<string, Promise<unknown>>()
  readonly #listeners = new Listeners<Record<Change, ServerStatus>>((_, error) =>
    this.#logger.warn({ error: describeError(error) }, 'A listener for MCP servers failed'),
  )
  /** Changes in this turn of the event loop. */
  readonly #changes = new Map<ServerConnection, Set<Change>>()
  #closing: Promise<unknown> | undefined

  constructor(options: McpIntegrationOptions) {
    checkServerEntries(options.servers)
    this.#options = options
    this.catalog = options.catalog ?? new Catalog()
    this.catalog.show(() => this.#connections)
    this.#logger = quietLogger(options.logger)
    const { servers, loginsFolder: folder } = options
    this.logins = new Logins({ servers, folder, logger: this.#logger })
  }

  /** Starts connecting to all servers in parallel, and returns immediately. Tools appear as servers become ready. */
  start(tools: ToolManager): void {
    if (this.#tools) throw new Error('This McpIntegration is already started')
    if (this.#closing) throw new Error(CLOSED)
    this.#tools = tools
    this.apply(this.#options)
  }

  /**
   * Replaces the servers with `servers`: added ones start, removed ones stop, changed ones do both, and the rest is untouched.
   * Returns immediately; pending calls continue until their deadlines, on the server they were sent to. Throws on an unusable
   * entry, changing nothing.
   */
  apply(options: Pick<McpIntegrationOptions, 'servers' | 'retry' | 'connectTimeoutMs'>): void {
    if (this.#closing) throw new Error(CLOSED)
    checkServerEntries(options.servers)
    this.#options = { ...this.#options, ...options }
    const tools = this.#tools
    if (!tools) return
    const before = new Map(this.#connections.map(connection => [connection.name, connection]))
    const fresh: ServerConnection[] = []
    this.#connections = Object.entries(options.servers).map(([name, entry], order) => {
      const known = before.get(name)
      known?.moveTo(order)
      if (known && isDeepStrictEqual(known.entry, entry)) return known
      this.logins.put(name, entry)
      const connection = this.#connection(name, entry, { order, tools })
      fresh.push(connection)
      return connection
    })
    for (const connection of before.values())
      if (!this.#connections.includes(connection)) this.#retire(connection)
    tools.arrange(Object.keys(options.servers))
    for (const connection of fresh) this.#ready.set(connection.name, connection.start())
  }

  #connection(
    name: string,
    entry: ServerEntry,
    place: { order: number; tools: ToolManager },
  ): ServerConnection {
    const { retry, connectTimeoutMs = CONNECT_TIMEOUT_MS, clock = systemClock, sample } = this.#options
    return new ServerConnection({
      name,
      entry,
      login: this.logins.of(name),
      ...place,
      attempts: retry?.attempts ?? MCP_RETRY_ATTEMPTS,
      baseDelayMs: retry?.baseDelayMs ?? MCP_RETRY_BASE_DELAY,
      connectTimeoutMs,
      clock,
      logger: this.#logger,
      sample,
      offers: this.catalog.events,
      onChange: (connection, what) => this.#onChange(connection, what),
      onFailed: (connection, failure, attempts) => this.#report(connection, failure, attempts),
    })
  }

  #retire(connection: ServerConnection): void {
    const successor = this.#connections.find(({ name }) => name === connection.name)
    this.#retired.add(connection)
    void connection.retire(successor).then(() => this.#retired.delete(connection))
    if (successor) return
    this.logins.put(connection.name, undefined)
    this.#ready.delete(connection.name)
    this.#listeners.tell('server', { ...connection.status(), state: 'closed' })
  }

  /** Resolves when every server, or the one named, is ready or has failed. Never rejects. */
  async ready(name?: string): Promise<void> {
    await (name === undefined ? Promise.all(this.#ready.values()) : this.#ready.get(name))
  }

  /**
   * Like `ready`, but waits only for the first attempt of each server, and reports it if that fails: nobody waits for the
   * retries of a broken server.
   */
  async tried(name?: string): Promise<void> {
    const asked = this.#connections.filter(connection => name === undefined || connection.name === name)
    await Promise.all(asked.map(each => this.#triedOnce(each)))
  }

  /** Reports a failure immediately, however long the other servers take. */
  async #triedOnce(connection: ServerConnection): Promise<void> {
    await Promise.race([connection.tried(), this.ready(connection.name)])
    const { failure, state } = connection
    if (state === 'starting' && failure)
      this.#report(connection, failure, Math.max(1, connection.status().attempts - 1))
  }

  /** Every server, in the order of the configuration. */
  status(): ServerStatus[] {
    return this.#connections.map(connection => connection.status())
  }

  /** Stops a server and starts it again, even one that has failed. Resolves when it is ready or has failed. */
  async restart(name: string): Promise<void> {
    await this.#find(name).restart()
  }

  /** Stops a server until it is restarted. Resolves when all its processes are gone. */
  async stop(name: string): Promise<void> {
    await this.#find(name).stop()
  }

  #find(name: string): ServerConnection {
    if (this.#closing) throw new Error(CLOSED)
    const connection = this.#connections.find(each => each.name === name)
    if (!connection) throw new Error(`There is no MCP server '${name}'`)
    return connection
  }

  /**
   * Calls `listener` with a server's status after a change, once for all changes in a turn of the event loop: `server` for
   * its state, error, attempts, tools or stderr (at most once a second), `tools` for its tools alone.
   * Returns a function that stops it.
   */
  on(event: Change, listener: ServerListener): () => void {
    return this.#listeners.on(event, listener)
  }

  /** Stops every server. Resolves when all their processes are gone; pending calls fail. Idempotent. */
  async close(): Promise<void> {
    const all = () => [...this.#connections, ...this.#retired].map(connection => connection.close())
    this.#closing ??= Promise.all(all())
    await this.#closing
  }

  #onChange(connection: ServerConnection, what: Change): void {
    if (this.#retired.has(connection)) return
    if (this.#changes.size === 0) setImmediate(() => this.#tellChanges())
    const changes = this.#changes.get(connection) ?? new Set<Change>(['server'])
    this.#changes.set(connection, changes.add(what))
  }

  #tellChanges(): void {
    const changes = [...this.#changes]
    this.#changes.clear()
    for (const [connection, whats] of changes) {
      if (![...whats].some(what => this.#listeners.has(what))) continue
      const status = connection.status()
      for (const what of whats) this.#listeners.tell(what, status)
    }
  }

  #report(connection: ServerConnection, failure: ServerFailure, attempts: number): void {
    const what = {
      server: connection.name,
      entry: connection.entry,
      attempts,
      cause: failure.cause,
      stderr: failure.stderr,
      localTools: this.#localTools(),
      othersReady: this.#connections.some(
        other => other !== connection && (other.state === 'ready' || other.state === 'starting'),
      ),
    }
    const report = failure.needsLogin ? describeLogin(what) : describeFailure(what)
    if (failure.needsLogin) connection.log.needsLogin(failure)
    else connection.log.failed(failure, attempts, report)
    quietly(
      () => this.#options.onReport?.(report),
      error => this.#logger.warn({ error: describeError(error) }, 'onReport failed'),
    )
  }

  #localTools(): string[] {
    const tools = this.#tools?.getTools() ?? []
    return tools.filter(tool => !this.#tools?.originOf(tool)).map(tool => tool.name)
  }
}
