import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { type CallContext, type Logger, silentLogger, type ToolCall, type ToolResult } from 'toolpost'
import type { Approval, Decision } from 'toolpost/interceptors'
import type {
  AcceptedRun,
  Durable,
  DurableChange,
  DurableOptions,
  DurableRunOptions,
  DurableStatus,
  DurableWorker,
  OfferedTool,
  PublishedTool,
  RefusedRun,
  Run,
  RunFilter,
  RunVerdict,
} from 'toolpost/project'
import { Connection } from './connection.ts'
import { checkedUrl, DatabaseProblem, messageOf, placeOf, problemOf, transaction } from './database.ts'
import { type Embedded, startEmbedded } from './embedded.ts'
import {
  cancelled,
  denied,
  failed,
  hashOf,
  type NewRun,
  nobodyRuns,
  resultOf,
  storedCall,
  storedOf,
  unavailable,
} from './store.ts'

const RETRY_START_MS = 1_000
const DEFAULT_DRAIN_MS = 10_000
/** The tool's own deadline should come first: its result says more. */
const GRACE_MS = 1_000
const LOOK_MS = 20
const DEFAULT_APPROVAL_MS = 24 * 3_600_000

/** Where a run goes. */
interface Route {
  pool: string
  queue: string
  isLimited: boolean
  repeatable: boolean
  /** Starts in this process, without the queue. */
  isHere: boolean
}

/** Durable calls, from connecting to the database to closing it. */
export class DurableCalls implements Durable {
  readonly #options: DurableOptions
  readonly #desertedMs: number
  readonly #logger: Logger
  readonly #listeners = new Set<(change: DurableChange) => void>()
  readonly #tried: Promise<void>
  #place = 'PostgreSQL'
  #status: DurableStatus = { state: 'starting', text: 'connecting to PostgreSQL' }
  #embedded: Embedded | undefined
  #connection: Connection | undefined
  #started: Promise<void> | undefined
  #isHopeless = false
  #published: readonly PublishedTool[] = []
  #closing: Promise<void> | undefined
  readonly #isClosing = new AbortController()

  constructor(options: DurableOptions, { desertedMs = 120_000 }: { desertedMs?: number } = {}) {
    this.#options = options
    this.#desertedMs = desertedMs
    this.#logger = options.logger ?? silentLogger
    this.#tried = new Promise(resolve => {
      this.#started = this.#start(resolve)
    })
  }

  ready(): Promise<void> {
    return this.#tried
  }

  status(): DurableStatus {
    return this.#status
  }

  async run(call: ToolCall, options: DurableRunOptions = {}): Promise<ToolResult> {
    const { signal, key } = options
    if (signal?.aborted) return cancelled(call.name)
    const accepted = await this.accept(call, options)
    if ('refused' in accepted) return accepted.refused
    const { id, result } = accepted
    if (!signal) return result
    return new Promise(resolve => {
      const giveUp = () => {
        // With a key, others may be waiting for the same run, and the caller may come back to it.
        if (key === undefined) void this.cancel(id).catch(() => {})
        resolve(cancelled(call.name, id))
      }
      signal.addEventListener('abort', giveUp, { once: true })
      if (signal.aborted) giveUp()
      void result.then(resolve).finally(() => signal.removeEventListener('abort', giveUp))
    })
  }

  async accept(call: ToolCall, options: DurableRunOptions = {}): Promise<AcceptedRun | RefusedRun> {
    const { name } = call
    const connection = await this.#whenOpen(this.#options.executor.timeoutMsOf(name, options))
    if (!connection) return { refused: unavailable(name, this.#why()) }
    const { key, caller } = options
    let stored: string
    try {
      stored = storedCall(call, options)
    } catch (error) {
      return { refused: failed(name, 'invalid_arguments', `Invalid parameters: ${messageOf(error)}`) }
    }
    const id =
      key === undefined
        ? `run_${randomUUID().replaceAll('-', '')}`
        : `run_${hashOf(['key', caller ?? null, key]).slice(0, 32)}`
    try {
      const route = this.#route(connection, name, options)
      if (!route) {
        const refused = await this.#refuse(connection, call, options)
        return (key !== undefined && (await this.#attach(connection, id, call, options))) || { refused }
      }
      const { pool, queue, repeatable, isHere } = route
      const run: NewRun = {
        ...{ id, tool: name, pool, queue, repeatable, is_limited: route.isLimited, call: stored },
        ...{ name: options.calledAs ?? name, options: withLimit(options) },
        call_hash: hashOf(call.args ?? {}),
        worker: isHere && !options.approval ? connection.workers.process : undefined,
      }
      const row = await (isHere || options.approval
        ? connection.store.insert(connection.database, run)
        : transaction(connection.database, async client =>
            connection.enqueue(client, await connection.store.insert(client, run)),
          ))
      if (!row) return (await this.#attach(connection, id, call, options)) ?? gone(name, id)
      const result = connection.waiters.wait(row, run.worker === undefined ? options.onProgress : undefined)
      if (run.worker !== undefined) {
        connection.executions.expect(row, options)
        connection.start(row)
      }
      return { id, result: this.#inTime(connection, id, call, options, result) }
    } catch (error) {
      // It may have been journalled anyway, with nobody waiting for it.
      if (key === undefined) void this.cancel(id).catch(() => {})
      const { message } = problemOf(error, this.#place)
      return { refused: unavailable(name, `the call could not be journalled: ${message}`) }
    }
  }

  async get(id: string): Promise<Run | undefined> {
    const { store, waiters } = this.#open()
    const [row] = await store.read([id])
    return row && waiters.shown(row)
  }

  async callOf(id: string): Promise<{ call: ToolCall; options: DurableRunOptions } | undefined> {
    const [row] = await this.#open().store.read([id])
    if (!row) return undefined
    const { args, timeout_ms: timeoutMs, repair, meta } = storedOf(row)
    const { tool: name, pool, origin, caller } = row
    const given = { origin: origin ?? undefined, caller: caller ?? undefined }
    return { call: { name, args }, options: { ...given, timeoutMs, repair, meta, pool } }
  }

  isRun(call: CallContext): boolean {
    return this.#connection?.executions.of(call) !== undefined
  }

  async list(filter: RunFilter = {}): Promise<Run[]> {
    const { store, waiters } = this.#open()
    return (await store.list(filter)).map(row => waiters.shown(row))
  }

  async cancel(id: string): Promise<boolean> {
    const { store, engine, executions, waiters } = this.#open()
    const row = await store.cancel(id)
    if (!row) return false
    executions.lose(id)
    waiters.settle(id, cancelled(row.tool, id))
    await engine.cancel(row).catch(() => {})
    return true
  }

  async workers(): Promise<DurableWorker[]> {
    return this.#open().workers.list()
  }

  publish(tools: readonly PublishedTool[]): void {
    this.#published = tools
    void this.#connection?.publish(tools)
  }

  offers(): readonly OfferedTool[] {
    return this.#connection?.workers.offers() ?? []
  }

  /** The run gives its place back while a person decides, and starts again afterwards. */
  requestApproval(call: CallContext, asked: Approval): Promise<RunVerdict> | undefined {
    const connection = this.#connection
    const execution = connection?.executions.of(call)
    if (!connection || !execution) return undefined
    const { id, attempt, decision, decided_by: by } = execution.row
    if (decision === 'approved')
      return Promise.resolve({ approved: true, reason: '', ...(by !== null && { by }) })
    return connection.store.park(id, attempt, asked).then(
      () => {
        connection.executions.lose(id)
        return { approved: false, reason: 'the run waits for a decision' }
      },
      error => ({ approved: false, reason: `nobody could be asked: ${messageOf(error)}` }),
    )
  }

  async approvalOf(runId: string): Promise<Approval | undefined> {
    const [row] = await this.#open().store.read([runId])
    return row?.state === 'approval' ? (row.approval ?? undefined) : undefined
  }

  async decide(approvalId: string, decision: 'approve' | 'deny', about: Decision = {}): Promise<boolean> {
    const connection = this.#open()
    const isApproved = decision === 'approve'
    return transaction(connection.database, async client => {
      const row = await connection.store.decide(client, approvalId, { ...about, isApproved })
      if (!row) return false
      if (isApproved) await connection.enqueue(client, row)
      const result = denied(row.tool, about.reason ?? deniedBy(about.by))
      if (!isApproved) await connection.store.finish(row, { result, isFinal: true }, client)
      return true
    })
  }

  onChange(listener: (change: DurableChange) => void): () => void {
    const own = (change: DurableChange) => listener(change)
    this.#listeners.add(own)
    return () => void this.#listeners.delete(own)
  }

  close({ drainMs = DEFAULT_DRAIN_MS }: { drainMs?: number } = {}): Promise<void> {
    this.#closing ??= this.#close(drainMs)
    return this.#closing
  }

  async #close(drainMs: number): Promise<void> {
    this.#isClosing.abort()
    await this.#started
    await this.#connection?.close(drainMs)
    await this.#embedded?.stop()
    this.#become({ state: 'failed', text: 'durable calls have been shut down' })
  }

  /** Connects, again and again unless that is pointless. `onTried` is called after the first attempt. */
  async #start(onTried: () => void): Promise<void> {
    while (!this.#isClosing.signal.aborted && !this.#connection && !this.#isHopeless) {
      try {
        this.#connection = await this.#connect()
        this.#become({ state: 'ready', text: `connected to ${this.#place}` })
      } catch (error) {
        const { message, isLasting } = problemOf(error, this.#place)
        this.#isHopeless = isLasting
        this.#become({ state: 'failed', text: isLasting ? message : `${message}; retrying` })
      }
      onTried()
      if (!this.#connection && !this.#isHopeless)
        await sleep(RETRY_START_MS, undefined, { signal: this.#isClosing.signal }).catch(() => {})
    }
    onTried()
  }

  async #connect(): Promise<Connection> {
    const { workerId, pool = 'default', role = 'worker' } = this.#options
    const url = await this.#database()
    const self = { id: workerId ?? `${hostname()}-${pool}`, pool, role }
    return Connection.open(url, {
      ...{ ...this.#options, ...self, logger: this.#logger },
      desertedMs: this.#desertedMs,
      published: () => this.#published,
      beforeReconnect: () => this.#embedded?.restart(),
      tell: change => this.#tell(change),
      onOpen: () => {
        if (this.#status.state !== 'lost') return
        this.#become({ state: 'ready', text: `connected to ${this.#place}` })
        this.#notice(`PostgreSQL at ${this.#place} is reachable again; durable calls continue`)
      },
      onLost: reason => {
        if (this.#closing) return
        const text = `PostgreSQL at ${this.#place} is unreachable (${reason}); reconnecting`
        this.#become({ state: 'lost', text })
        this.#notice(`${text}. Calls that need it fail until then; accepted ones continue afterwards`)
      },
    })
  }

  async #database(): Promise<URL> {
    const { databaseUrl, dataDir, onNotice } = this.#options
    if (databaseUrl !== undefined) {
      const url = checkedUrl(databaseUrl)
      this.#place = placeOf(url)
      return url
    }
    if (dataDir === undefined)
      throw new DatabaseProblem(
        'Durable calls need a database: set databaseUrl, or dataDir for an embedded one',
      )
    await this.#embedded?.restart()
    const isFirst = this.#status.state === 'starting'
    this.#embedded ??= await startEmbedded(dataDir, { onNotice: isFirst ? onNotice : undefined })
    this.#place = `${placeOf(this.#embedded.url)} (embedded)`
    return this.#embedded.url
  }

  /** Calls that arrive before the first connection wait for it, within their deadline. An outage is answered at once. */
  async #whenOpen(limitMs: number): Promise<Connection | undefined> {
    const until = performance.now() + limitMs
    const isStarting = () => !this.#connection && !this.#isHopeless && !this.#closing
    while (isStarting() && performance.now() < until) await sleep(LOOK_MS)
    return this.#connection?.isOpen && !this.#closing ? this.#connection : undefined
  }

  /** `undefined` if nobody runs the tool. */
  #route(
    { workers, queueOf, isLimited }: Connection,
    name: string,
    options: DurableRunOptions,
  ): Route | undefined {
    const pools = [options.pool ?? workers.pool].flat()
    const own = workers.role === 'worker' ? this.#options.executor.tools.findTool(name) : undefined
    if (own && pools.includes(workers.pool)) {
      const queue = queueOf(this.#published.find(tool => tool.name === name)?.server)
      const isQueued = isLimited(queue) && workers.isServed(workers.pool, name)
      const where = { pool: workers.pool, queue, isLimited: isQueued, isHere: !isQueued }
      return { ...where, repeatable: isRepeatable(own) }
    }
    const pool = pools.find(each => workers.isServed(each, name))
    const offer = pool === undefined ? undefined : workers.find(pool, name)
    if (!offer) return undefined
    const { queue, isLimited: isQueued } = offer.tool
    return {
      pool: offer.pool,
      queue,
      isLimited: isQueued,
      isHere: false,
      repeatable: isRepeatable(offer.tool),
    }
  }

  async #refuse({ workers }: Connection, call: ToolCall, options: DurableRunOptions): Promise<ToolResult> {
    const pools = [options.pool ?? workers.pool].flat()
    const since = pools.map(each => workers.find(each, call.name)?.goneSince).find(time => time !== undefined)
    const isUnknown = since === undefined && options.pool === undefined && workers.role === 'worker'
    // A dry run: the tool may appear meanwhile, and must not run after all.
    const { result } = isUnknown
      ? await this.#options.executor.dryRun(call, { ...options, signal: undefined })
      : {}
    return result?.success === false ? result : unavailable(call.name, nobodyRuns(pools, since))
  }

  /** Waits for the run that already used this key. */
  async #attach(
    connection: Connection,
    id: string,
    call: ToolCall,
    options: DurableRunOptions,
  ): Promise<AcceptedRun | RefusedRun | undefined> {
    const [row] = await connection.store.read([id])
    if (!row) return undefined
    const pools = [options.pool ?? connection.workers.pool].flat()
    // Without a pool the tool is unknown here by now: only its name can be compared.
    const isNamed = pools.length === 0 && row.name === options.calledAs
    const isSameTool = isNamed || (row.tool === call.name && pools.includes(row.pool))
    if (!isSameTool || row.call_hash !== hashOf(call.args ?? {})) {
      const error = `Idempotency key '${options.key}' was used for another call`
      return { refused: failed(call.name, 'invalid_arguments', error), isConflict: true }
    }
    const ended = row.ended_at ? resultOf(row) : undefined
    const result = ended ? Promise.resolve(ended) : connection.waiters.wait(row, options.onProgress)
    return { id, result: this.#inTime(connection, id, call, options, result) }
  }

  /** The result, or at the caller's deadline that the run goes on. Waiting for a person does not count. */
  async #inTime(
    connection: Connection,
    id: string,
    call: ToolCall,
    options: DurableRunOptions,
    result: Promise<ToolResult>,
  ): Promise<ToolResult> {
    const { executor } = this.#options
    const offered = connection.workers.offers().find(({ tool }) => tool.name === call.name)?.tool
    const { maxTimeoutMs, timeoutMs } = executor.tools.findTool(call.name) ?? offered ?? {}
    const limitMs = options.timeoutMs ?? maxTimeoutMs ?? timeoutMs ?? executor.timeoutMsOf(call.name, {})
    const over = new AbortController()
    void result.finally(() => over.abort())
    const deadline = async (): Promise<ToolResult> => {
      let state: string | undefined
      do {
        await sleep(limitMs + GRACE_MS, undefined, { signal: over.signal, ref: false })
        state = (await connection.store.read([id]).catch(() => []))[0]?.state
      } while (state === 'approval')
      const text = `Tool '${call.name}' timed out after ${limitMs} ms; run '${id}' continues`
      return failed(call.name, 'timeout', text, id)
    }
    return Promise.race([result, deadline().catch(() => result)])
  }

  #become(status: DurableStatus): void {
    this.#status = status
    this.#tell({ type: 'state' })
  }

  /** A listener that throws does not affect the others. */
  #tell(change: DurableChange): void {
    for (const listener of this.#listeners) {
      try {
        listener(change)
      } catch (error) {
        this.#logger.warn({ error: messageOf(error) }, 'A listener for durable calls failed')
      }
    }
  }

  #notice(text: string): void {
    this.#logger.warn({ state: this.#status.state }, text)
    this.#options.onNotice?.(text)
  }

  #why(): string {
    return this.#closing ? 'Toolpost is shutting down' : this.#status.text
  }

  #open(): Connection {
    if (!this.#connection) throw new Error(`Durable calls are unavailable: ${this.#why()}`)
    return this.#connection
  }
}

function withLimit(options: DurableRunOptions): DurableRunOptions {
  const { approval } = options
  return approval ? { ...options, approval: { timeoutMs: DEFAULT_APPROVAL_MS, ...approval } } : options
}

function isRepeatable({ readOnly, idempotent }: Pick<PublishedTool, 'readOnly' | 'idempotent'>): boolean {
  return readOnly === true || idempotent === true
}

function deniedBy(by: string | undefined): string {
  return by === undefined ? 'denied by the user' : `denied by ${by}`
}

function gone(tool: string, id: string): RefusedRun {
  return { refused: unavailable(tool, `run '${id}' was deleted`) }
}
