import { isDeepStrictEqual } from 'node:util'
import type { Logger } from '../logging/logger.ts'
import { quietLogger } from '../logging/quiet-logger.ts'
import { removeFromLogs } from '../logging/redact.ts'
import type { Sample } from '../tools/caller.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import { type Clock, systemClock } from '../util/clock.ts'
import { Listeners, quietly } from '../util/quietly.ts'
import { Catalog } from './catalog.ts'
import { type McpHost, McpServer } from './mcp-server.ts'
import type { LoggedMessage } from './message-log.ts'
import { Logins } from './oauth/logins.ts'
import { checkServerEntry, isHttp, type ServerEntry } from './server-entry.ts'
import { describeError, hintFor, lastLines } from './server-failure.ts'
import { secretsOf } from './server-secrets.ts'
import type { ServerStatus } from './server-status.ts'

export interface McpIntegrationOptions {
  /** `mcpServers`, in the usual form. Their order decides which one keeps a name that two of them use. */
  servers: Readonly<Record<string, ServerEntry>>
  /** For the first connection. A server lost later is retried forever. */
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

/** Receives a server's current status. If it throws, that is logged once and affects nothing else. */
export type ServerListener = (status: ServerStatus) => void

/**
 * The MCP servers of a configuration, and their tools in a ToolManager. Servers are independent: one that is slow, broken or
 * gone holds up neither the start nor the others. Throws on an unusable entry.
 */
export class McpIntegration {
  readonly catalog: Catalog
  readonly logins: Logins
  readonly #options: McpIntegrationOptions
  readonly #logger: Logger
  #host: McpHost | undefined
  #servers: McpServer[] = []
  /** Servers no longer in the configuration, until their pending calls have ended. */
  readonly #removed = new Set<McpServer>()
  readonly #listeners = new Listeners<{ server: ServerStatus }>((_, error) =>
    this.#logger.warn({ error: describeError(error) }, 'A listener for MCP servers failed'),
  )
  readonly #changed = new Set<McpServer>()
  #closing: Promise<unknown> | undefined

  constructor(options: McpIntegrationOptions) {
    checkServerEntries(options.servers)
    this.#options = { ...options }
    this.catalog = options.catalog ?? new Catalog()
    this.catalog.show(() => this.#servers)
    this.#logger = quietLogger(options.logger)
    this.logins = new Logins({ ...options, folder: options.loginsFolder })
  }

  /** Starts connecting to all servers in parallel, and returns immediately. Tools appear as servers become ready. */
  start(tools: ToolManager): void {
    this.#checkOpen()
    if (this.#host) throw new Error('This McpIntegration is already started')
    this.#host = {
      options: this.#options,
      tools,
      logins: this.logins,
      catalog: this.catalog,
      clock: this.#options.clock ?? systemClock,
      logger: this.#logger,
      onChange: server => this.#onChange(server),
      onFailed: server => this.#report(server),
      onProgress: text => this.#notify(text),
    }
    this.apply(this.#options)
  }

  /**
   * Replaces the servers with `servers`: added ones start, removed ones stop, changed ones do both, and the rest is untouched.
   * Returns immediately; pending calls continue until their deadlines, on the server they were sent to. Throws on an unusable
   * entry, changing nothing.
   */
  apply(options: Pick<McpIntegrationOptions, 'servers' | 'retry' | 'connectTimeoutMs'>): void {
    this.#checkOpen()
    checkServerEntries(options.servers)
    const { servers, retry, connectTimeoutMs } = options
    Object.assign(this.#options, { servers, retry, connectTimeoutMs })
    const host = this.#host
    if (!host) return
    const before = new Map(this.#servers.map(server => [server.name, server]))
    const starts: (() => void)[] = []
    this.#servers = Object.entries(servers).map(([name, entry], order) => {
      const server = before.get(name) ?? new McpServer(host, name, entry)
      const isNew = !before.delete(name)
      server.order = order
      if (!isNew && isDeepStrictEqual(server.entry, entry)) return server
      this.logins.put(name, entry)
      starts.push(() => (isNew ? server.start() : server.replace(entry)))
      return server
    })
    for (const server of before.values()) {
      this.#removed.add(server)
      void server.remove().then(() => this.#removed.delete(server))
      this.logins.put(server.name, undefined)
      this.#listeners.tell('server', { ...server.status(), state: 'closed' })
    }
    host.tools.arrange(Object.keys(servers))
    for (const start of starts) start()
  }

  /** Resolves when every server, or the one named, is ready or has failed; tool names are final once all are. Never rejects. */
  async ready(name?: string): Promise<void> {
    await Promise.all(this.#named(name).map(server => server.ready()))
    if (name === undefined) this.#host?.tools.keepNames()
  }

  /** Resolves after the first attempt of every server, or of the one named; reports a failed attempt. */
  async tried(name?: string): Promise<void> {
    const servers = this.#named(name)
    await Promise.all(servers.map(server => server.tried()))
    for (const server of servers) if (server.state === 'starting') this.#report(server)
  }

  #named(name: string | undefined): McpServer[] {
    return this.#servers.filter(server => name === undefined || server.name === name)
  }

  status(): ServerStatus[] {
    return this.#servers.map(server => server.status())
  }

  /** The last messages between Toolpost and a server with a number above `after`, oldest first, without secrets. */
  messages(name: string, { after = 0 }: { after?: number | undefined } = {}): LoggedMessage[] {
    return this.#find(name).messages.read(after)
  }

  /** Stops a server and starts it again, even one that has failed. Resolves after its first attempt. */
  async restart(name: string): Promise<void> {
    await this.#find(name).restart()
  }

  async stop(name: string): Promise<void> {
    await this.#find(name).stop()
  }

  #find(name: string): McpServer {
    this.#checkOpen()
    const [server] = this.#named(name)
    if (!server) throw new Error(`There is no MCP server '${name}'`)
    return server
  }

  #checkOpen(): void {
    if (this.#closing) throw new Error('This McpIntegration is closed')
  }

  /**
   * Calls `listener` with a server's status after any change, once for all changes in a turn of the event loop. Returns a
   * function that stops it.
   */
  on(event: 'server', listener: ServerListener): () => void {
    return this.#listeners.on(event, listener)
  }

  /** Stops every server. Resolves when all their processes are gone; pending calls fail. Idempotent. */
  async close(): Promise<void> {
    const close = async (server: McpServer) => {
      await server.stop('it was closed')
      server.offers.forget()
    }
    this.#closing ??= Promise.all([...this.#servers, ...this.#removed].map(close))
    await this.#closing
  }

  #onChange(server: McpServer): void {
    if (this.#removed.has(server)) return
    if (this.#changed.size === 0)
      setImmediate(() => {
        const changed = [...this.#changed]
        this.#changed.clear()
        for (const each of changed) this.#listeners.tell('server', each.status())
      })
    this.#changed.add(server)
  }

  /** Says what failed, why, what to do, and what still works. */
  #report(server: McpServer): void {
    const { name, entry, failure, attempt: attempts } = server
    if (!failure) return
    const { kind, message } = failure
    const [transport, stderr] = isHttp(entry) ? ['http', undefined] : ['stdio', lastLines(failure.stderr)]
    const count = `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`
    const told =
      kind === 'needs_login'
        ? [`🔑 Server '${name}' needs a login`, message]
        : [
            `❌ Failed to initialize MCP tools after ${count}`,
            `Reason: Connection to ${transport} server '${name}' failed: ${message}`,
            stderr !== undefined &&
              `MCP Server stderr: ${stderr.replaceAll('\n', '\n      ') || '(nothing)'}`,
            `Check: ${hintFor(name, entry)}`,
          ]
    const report = `${told.filter(Boolean).join('\n   ')}\n⚠️ Continuing ${this.#consequence(server)}`
    const fields = { attempts, ...failure.logFields, report }
    if (kind !== 'needs_login') server.logger.error(fields, `MCP connection failed after ${count}`)
    this.#notify(report)
  }

  #consequence(server: McpServer): string {
    const isUsable = (each: McpServer) => each !== server && ['ready', 'starting'].includes(each.state)
    if (this.#servers.some(isUsable)) return `without the tools of '${server.name}'`
    const tools = this.#host?.tools
    const local = tools?.getTools().filter(tool => !tools.originOf(tool)) ?? []
    return `with local tools only (${local.map(({ name }) => name).join(', ') || 'none'})`
  }

  #notify(text: string): void {
    quietly(
      () => this.#options.onReport?.(text),
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
