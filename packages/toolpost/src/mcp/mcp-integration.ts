import { isDeepStrictEqual } from 'node:util'
import type { Logger } from '../logging/logger.ts'
import { quietLogger } from '../logging/quiet-logger.ts'
import { removeFromLogs } from '../logging/redact.ts'
import type { Sample } from '../tools/caller.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import { type Clock, systemClock } from '../util/clock.ts'
import { Listeners } from '../util/listeners.ts'
import { quietly } from '../util/quietly.ts'
import { Catalog } from './catalog.ts'
import { countOf, describeFailure } from './failure-report.ts'
import { CONNECT_TIMEOUT_MS, MCP_RETRY_ATTEMPTS, MCP_RETRY_BASE_DELAY } from './limits.ts'
import { type Change, fieldsOf, McpServer } from './mcp-server.ts'
import type { LoggedMessage } from './message-log.ts'
import { Logins } from './oauth/logins.ts'
import { checkServerEntry, type ServerEntry } from './server-entry.ts'
import { describeError, type ServerFailure } from './server-failure.ts'
import { secretsOf } from './server-secrets.ts'
import type { ServerStatus } from './server-status.ts'

export interface McpIntegrationOptions {
  /** `mcpServers`, in the usual form. Their order decides which one keeps a name that two of them use. */
  servers: Readonly<Record<string, ServerEntry>>
  /** For the first server. A server lost later is retried forever. */
  retry?: { attempts?: number | undefined; baseDelayMs?: number | undefined } | undefined
  connectTimeoutMs?: number | undefined
  /** The folder for saved logins; if left out, they are kept in memory only. */
  loginsFolder?: string | undefined
  logger?: Logger | undefined
  /** Called with a message for the user when a server is unavailable. It is logged as well. */
  onReport?: ((text: string) => void) | undefined
  clock?: Clock | undefined
  /** Generates messages for servers with `sampling`, if the caller cannot. */
  sample?: Sample | undefined
  /** The catalog for their resources and prompts; a new one if left out. */
  catalog?: Catalog | undefined
}

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
  #servers: McpServer[] = []
  #tools: ToolManager | undefined
  /** Connections no longer in the configuration, until their pending calls have ended. */
  readonly #retired = new Set<McpServer>()
  readonly #ready = new Map<string, Promise<unknown>>()
  readonly #listeners = new Listeners<Record<Change, ServerStatus>>((_, error) =>
    this.#logger.warn({ error: describeError(error) }, 'A listener for MCP servers failed'),
  )
  /** Changes in this turn of the event loop. */
  readonly #changes = new Map<McpServer, Change>()
  #closing: Promise<unknown> | undefined

  constructor(options: McpIntegrationOptions) {
    checkServerEntries(options.servers)
    this.#options = options
    this.catalog = options.catalog ?? new Catalog()
    this.catalog.show(() => this.#servers)
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
    const before = new Map(this.#servers.map(server => [server.name, server]))
    const fresh: McpServer[] = []
    this.#servers = Object.entries(options.servers).map(([name, entry], order) => {
      const known = before.get(name)
      known?.moveTo(order)
      if (known && isDeepStrictEqual(known.entry, entry)) return known
      this.logins.put(name, entry)
      const server = this.#create(name, entry, { order, tools })
      fresh.push(server)
      return server
    })
    for (const server of before.values()) if (!this.#servers.includes(server)) this.#retire(server)
    tools.arrange(Object.keys(options.servers))
    for (const server of fresh) this.#ready.set(server.name, server.start())
  }

  #create(name: string, entry: ServerEntry, place: { order: number; tools: ToolManager }): McpServer {
    const { retry, connectTimeoutMs = CONNECT_TIMEOUT_MS, clock = systemClock, sample } = this.#options
    return new McpServer({
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
      onChange: (server, what) => this.#onChange(server, what),
      onFailed: (server, failure, attempts) => this.#report(server, failure, attempts),
      onProgress: text => this.#tell(text),
    })
  }

  #retire(server: McpServer): void {
    const successor = this.#servers.find(({ name }) => name === server.name)
    this.#retired.add(server)
    void server.retire(successor).then(() => this.#retired.delete(server))
    if (successor) return
    this.logins.put(server.name, undefined)
    this.#ready.delete(server.name)
    this.#listeners.tell('server', { ...server.status(), state: 'closed' })
  }

  /** Resolves when every server, or the one named, is ready or has failed. Never rejects. */
  async ready(name?: string): Promise<void> {
    await (name === undefined ? Promise.all(this.#ready.values()) : this.#ready.get(name))
  }

  /**
   * Resolves after the first attempt of every server, or of the one named, without waiting for retries; reports a failed
   * attempt.
   */
  async tried(name?: string): Promise<void> {
    const asked = this.#servers.filter(server => name === undefined || server.name === name)
    await Promise.all(
      asked.map(async server => {
        await Promise.race([server.tried(), this.ready(server.name)])
        const { failure, state } = server
        if (state === 'starting' && failure)
          this.#report(server, failure, Math.max(1, server.status().attempts - 1))
      }),
    )
  }

  /** Every server, in the order of the configuration. */
  status(): ServerStatus[] {
    return this.#servers.map(server => server.status())
  }

  /** The last messages between Toolpost and a server with a number above `after`, oldest first, without secrets. */
  messages(name: string, options: { after?: number | undefined } = {}): LoggedMessage[] {
    return this.#find(name).messages.read(options)
  }

  /** Stops a server and starts it again, even one that has failed. Resolves when it is ready or has failed. */
  async restart(name: string): Promise<void> {
    await this.#find(name).restart()
  }

  /** Stops a server until it is restarted. Resolves when all its processes are gone. */
  async stop(name: string): Promise<void> {
    await this.#find(name).stop()
  }

  #find(name: string): McpServer {
    if (this.#closing) throw new Error(CLOSED)
    const server = this.#servers.find(each => each.name === name)
    if (!server) throw new Error(`There is no MCP server '${name}'`)
    return server
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
    const all = () => [...this.#servers, ...this.#retired].map(server => server.close())
    this.#closing ??= Promise.all(all())
    await this.#closing
  }

  #onChange(server: McpServer, what: Change): void {
    if (this.#retired.has(server)) return
    if (this.#changes.size === 0) setImmediate(() => this.#tellChanges())
    if (this.#changes.get(server) !== 'tools') this.#changes.set(server, what)
  }

  #tellChanges(): void {
    const changes = [...this.#changes]
    this.#changes.clear()
    for (const [server, what] of changes) {
      const status = server.status()
      this.#listeners.tell('server', status)
      if (what === 'tools') this.#listeners.tell('tools', status)
    }
  }

  #report(server: McpServer, failure: ServerFailure, attempts: number): void {
    const tools = this.#tools?.getTools() ?? []
    const report = describeFailure({
      server: server.name,
      entry: server.entry,
      attempts,
      failure,
      localTools: tools.filter(tool => !this.#tools?.originOf(tool)).map(tool => tool.name),
      othersReady: this.#servers.some(
        other => other !== server && (other.state === 'ready' || other.state === 'starting'),
      ),
    })
    const fields = { attempts, ...fieldsOf(failure), report }
    if (!failure.needsLogin) server.logger.error(fields, `MCP connection failed after ${countOf(attempts)}`)
    this.#tell(report)
  }

  #tell(report: string): void {
    quietly(
      () => this.#options.onReport?.(report),
      error => this.#logger.warn({ error: describeError(error) }, 'onReport failed'),
    )
  }
}

function checkServerEntries(servers: McpIntegrationOptions['servers']): void {
  for (const [name, entry] of Object.entries(servers)) {
    checkServerEntry(name, entry)
    removeFromLogs(secretsOf(entry))
  }
}
