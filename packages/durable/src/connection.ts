import type { Pool, PoolClient } from 'pg'
import type { Logger, ToolResult } from 'toolpost'
import type { DurableChange, DurableOptions, PublishedTool } from 'toolpost/project'
import { alone, CHANNEL, Link, messageOf, openPool, transaction } from './database.ts'
import { type Attempt, Engine, type QueueLimit } from './engine.ts'
import { Executions } from './executions.ts'
import { denied, nobodyRuns, prepareDatabase, type RunRow, Store, unavailable, workerOf } from './store.ts'
import { Waiters } from './waiters.ts'
import { Workers } from './workers.ts'

const DEFAULT_CONCURRENCY = 16
const DEFAULT_DAYS = 30
const ENGINE_HOURS = 1
const LOOK_EVERY_MS = 1_000
/** In looks. */
const RARELY = 3
const CLEAN_EVERY = 60
/** How soon a run is offered again that a worker without its tool had taken. */
const OFFER_AGAIN_S = 1
/** The queue of tools without an MCP server. */
const LOCAL = 'local'

interface ConnectionOptions extends DurableOptions {
  id: string
  pool: string
  role: 'worker' | 'gateway'
  logger: Logger
  desertedMs: number
  published(): readonly PublishedTool[]
  beforeReconnect(): Promise<void> | undefined
  tell(change: DurableChange): void
  onOpen(): void
  onLost(reason: string): void
}

/** Everything that lives as long as the connection to a database. Survives outages of the database. */
export class Connection {
  readonly database: Pool
  readonly store: Store
  readonly workers: Workers
  readonly waiters: Waiters
  executions!: Executions
  engine!: Engine
  #link!: Link
  readonly #options: ConnectionOptions
  /** Since when nobody has run a tool that runs wait for. */
  readonly #deserted = new Map<string, number>()
  /** The queues this process takes runs from. */
  #queues: readonly string[] = []
  #removeInterceptor: (() => void) | undefined
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<void> = Promise.resolve()
  #taking: Promise<void> = Promise.resolve()
  #looks = 0
  /** The tool that another project was warned about. */
  #clash: string | undefined
  #isClosing = false

  private constructor(database: Pool, options: ConnectionOptions) {
    this.#options = options
    this.database = database
    this.store = new Store(database)
    this.workers = new Workers(database, options)
    this.waiters = new Waiters(this.store, run => options.tell({ type: 'run', run }))
  }

  /** Connects, or throws the reason it cannot, leaving nothing behind. */
  static async open(url: URL, options: ConnectionOptions): Promise<Connection> {
    const connection = new Connection(openPool(url), options)
    try {
      await connection.#start(url)
      return connection
    } catch (error) {
      await connection.#link?.close()
      await connection.engine?.stop(0)
      await connection.database.end().catch(() => {})
      throw error
    }
  }

  get isOpen(): boolean {
    return this.#link.isOpen
  }

  async #start(url: URL): Promise<void> {
    const { executor, role, servers = [], concurrency = DEFAULT_CONCURRENCY, logger } = this.#options
    const { database, store, workers } = this
    this.#link = new Link({
      ...{ url, lockKey: workers.lockKey },
      beforeReconnect: async () => this.#options.beforeReconnect(),
      onOpen: async () => {
        await workers.register()
        if (this.#options.published().length > 0) await this.publish(this.#options.published())
        await workers.look()
        this.#options.tell({ type: 'workers' })
        this.#options.onOpen()
      },
      onLost: this.#options.onLost,
      onNotice: payload => this.#handleNotice(payload),
    })
    await alone(database, async () => {
      await prepareDatabase(database)
      await workers.name()
      this.executions = new Executions({
        ...{ store, executor, process: workers.process },
        onProgress: (progress, value) => this.#notify({ progress, value }),
        onEnd: (id, result) => {
          this.waiters.settle(id, result)
          this.#take()
        },
        onMissing: row => this.#giveBack(row),
      })
      const takes = role === 'worker' && concurrency > 0
      this.#queues = takes ? [LOCAL, ...servers].map(server => this.queueOf(server)) : []
      this.engine = await Engine.launch({
        ...{ pool: database, process: workers.process, logger, concurrency },
        queues: this.#queues.filter(this.isLimited),
        limitOf: queue => this.#limitOf(queue),
        execute: attempt => this.executions.execute(attempt),
      })
      await this.#link.open()
    })
    const use = this.#options.use ?? (interceptor => executor.use(interceptor))
    this.#removeInterceptor = use(this.executions.interceptor)
    this.#lookSoon()
  }

  /** The queue of a server of this pool: one that was not there at the start shares that of the local tools. */
  readonly queueOf = (server = LOCAL): string => {
    const isKnown = this.#options.servers?.includes(server)
    return `${this.workers.pool}/${isKnown ? server : LOCAL}`
  }

  readonly isLimited = (queue: string): boolean => Object.keys(this.#limitOf(queue)).length > 0

  #limitOf(queue: string): QueueLimit {
    return this.#options.limits?.[queue.slice(queue.indexOf('/') + 1)] ?? {}
  }

  /** Tells the others which tools this worker runs. Repeated when the database comes back. */
  async publish(tools: readonly PublishedTool[]): Promise<void> {
    if (this.workers.role === 'gateway') return
    const queued = tools.map(tool => {
      const queue = this.queueOf(tool.server)
      return { ...tool, queue, isLimited: this.isLimited(queue) }
    })
    await this.workers.publish(queued).catch(() => {})
    // Runs may be waiting for a tool that has just appeared.
    this.#take()
  }

  /** Lets a waiting run start: DBOS keeps the limits of its queue; without limits, the first worker with room takes it. */
  async enqueue(client: PoolClient, row: RunRow | undefined, delayS = 0): Promise<RunRow | undefined> {
    if (row?.is_limited) await this.engine.enqueue(client, row.queue, row, delayS)
    return row
  }

  /** Starts an attempt here. If that fails for good, it is queued. */
  start(attempt: Attempt): void {
    this.engine.start(attempt).catch(async error => {
      this.#options.logger.debug({ error: messageOf(error) }, 'A run could not be started here')
      await transaction(this.database, client => this.requeue(client, attempt)).catch(() => {})
    })
  }

  /** Puts a run that has not invoked its tool back into its queue. */
  async requeue(client: PoolClient, attempt: Attempt, { deaths = 0, delayS = 0 } = {}): Promise<void> {
    await this.enqueue(client, await this.store.requeue(client, attempt, deaths), delayS)
  }

  /** Ends a run from outside. */
  async end(row: RunRow, result: ToolResult, isFinal: boolean): Promise<void> {
    if (await this.store.finish(row, { result, isFinal }))
      this.waiters.settle(row.id, { ...result, run_id: row.id })
  }

  /** Lets running calls finish, hands over the rest, and frees this process's name. */
  async close(drainMs: number): Promise<void> {
    this.#isClosing = true
    clearTimeout(this.#timer)
    await Promise.all([this.#looking, this.#taking])
    const wasOpen = this.isOpen
    await this.engine.stop(wasOpen ? drainMs : 0)
    this.executions.close()
    if (wasOpen) await this.#takeOver([this.workers.process]).catch(() => {})
    await this.#link.close()
    this.#removeInterceptor?.()
    this.waiters.close()
    await this.database.end().catch(() => {})
  }

  /** A worker without the tool has taken the run: its server may be starting, or another worker has it. */
  async #giveBack(row: RunRow): Promise<void> {
    await transaction(this.database, client => this.requeue(client, row, { delayS: OFFER_AGAIN_S }))
  }

  #notify(notice: object): void {
    const payload = JSON.stringify(notice)
    if (payload.length < 2_000)
      void this.database.query('SELECT pg_notify($1, $2)', [CHANNEL, payload]).catch(() => {})
  }

  #handleNotice(payload: string): void {
    const notice = JSON.parse(payload)
    if (notice.workers) void this.#look().catch(() => {})
    if (notice.progress) this.waiters.noteProgress(notice.progress, notice.value)
    if (!notice.run) return
    if (notice.state === 'waiting' && this.#queues.includes(notice.queue)) this.#take()
    if (notice.state === 'cancelled') this.executions.lose(notice.run)
    if (notice.asks) void this.#tellApprovals().catch(() => {})
    if (['done', 'failed', 'cancelled'].includes(notice.state) && this.waiters.ids.includes(notice.run))
      void this.waiters.look([notice.run]).catch(() => {})
    this.waiters.noteChange(notice.run)
  }

  /** Starts as many waiting runs as there is room for, one look at a time. */
  #take(): void {
    this.#taking = this.#taking.then(async () => {
      const { concurrency = DEFAULT_CONCURRENCY, executor } = this.#options
      const room = concurrency - this.executions.count
      if (room <= 0 || this.#queues.length === 0 || this.#isClosing || !this.isOpen) return
      const tools = executor.tools.getTools().map(({ name }) => name)
      const rows = await this.store.take({ queues: this.#queues, tools, room, worker: this.workers.process })
      for (const row of rows) {
        this.executions.expect(row, {})
        this.start(row)
      }
    })
    this.#taking = this.#taking.catch(() => {})
  }

  #lookSoon(): void {
    if (this.#isClosing) return
    this.#timer = setTimeout(() => {
      this.#looking = (this.isOpen ? this.#chores() : Promise.resolve())
        .catch(error =>
          this.#options.logger.debug({ error: messageOf(error) }, 'Could not check on the runs'),
        )
        .finally(() => this.#lookSoon())
    }, LOOK_EVERY_MS)
  }

  /** Every second: who is alive, and whatever a lost notice would have said. */
  async #chores(): Promise<void> {
    const dead = await this.#look()
    if (dead.length > 0) await this.#takeOver(dead)
    const own = this.executions.ids
    for (const row of await this.waiters.look([...new Set([...this.waiters.ids, ...own])]))
      if (own.includes(row.id) && (row.ended_at || row.worker !== this.workers.process))
        this.executions.lose(row.id)
    const look = this.#looks++
    if (look % RARELY === 0) this.#take()
    if (look % RARELY === 0) await this.#endWaiting()
    if (look % CLEAN_EVERY === 0) await this.#clean()
  }

  async #look(): Promise<string[]> {
    const { isChanged, dead } = await this.workers.look()
    if (isChanged) this.#options.tell({ type: 'workers' })
    if (isChanged) await this.#tellApprovals()
    if (isChanged) this.#warnOfClash()
    return dead
  }

  /** Two projects that share a database and a pool would run each other's calls. */
  #warnOfClash(): void {
    const tool = this.workers.clash()
    if (tool === undefined || tool === this.#clash) return
    this.#clash = tool
    const { pool } = this.workers
    this.#options.onNotice?.(
      `⚠️ Another worker of pool '${pool}' in this database defines '${tool}' differently. If it belongs to another project, give each its own "pool" under "durable", or its own database`,
    )
  }

  /**
   * Takes over the runs of processes that died: those that may have invoked their tool end with an unknown outcome, the
   * others go back to their queues. One process at a time does this.
   */
  async #takeOver(dead: string[]): Promise<void> {
    const unknown = await transaction(this.database, async client => {
      const { rows } = await client.query<RunRow>(
        `SELECT * FROM toolpost.runs WHERE ended_at IS NULL AND worker = ANY($1) FOR UPDATE SKIP LOCKED`,
        [dead],
      )
      for (const row of rows) if (row.intent === null) await this.requeue(client, row, { deaths: 1 })
      await client.query(
        'UPDATE toolpost.workers SET gone_at = now() WHERE process = ANY($1) AND gone_at IS NULL',
        [dead],
      )
      return rows.filter(({ intent }) => intent !== null)
    })
    for (const row of unknown) await this.end(row, unknownOutcome(row), true)
    if (unknown.length > 0) this.#options.logger.warn({ workers: dead, runs: unknown.length }, 'Worker lost')
    // What DBOS had handed to them and they had not begun.
    const taken = this.#isClosing ? [] : await this.engine.reclaim(dead)
    for (const attempt of taken) await transaction(this.database, client => this.requeue(client, attempt))
  }

  /** Ends runs that nobody decided about in time, and those whose tool nobody has had for long: they may be sent again. */
  async #endWaiting(): Promise<void> {
    const rows = await this.store.waiting()
    const now = performance.now()
    const missing = rows.filter(
      ({ state, pool, tool }) => state === 'waiting' && !this.workers.isServed(pool, tool),
    )
    for (const row of rows)
      if (row.state === 'approval') await this.end(row, denied(row.tool, expiredText(row)), true)
    for (const row of missing) {
      const { pool, tool } = row
      const since = this.#deserted.get(`${pool}/${tool}`) ?? now
      this.#deserted.set(`${pool}/${tool}`, since)
      const text = nobodyRuns([pool], this.workers.find(pool, tool)?.goneSince)
      // Without a key nobody can come back for it.
      const limitMs = row.key === null ? 0 : this.#options.desertedMs
      if (now - since >= limitMs) await this.end(row, unavailable(tool, text), false)
    }
    for (const key of this.#deserted.keys())
      if (!missing.some(({ pool, tool }) => `${pool}/${tool}` === key)) this.#deserted.delete(key)
  }

  /** DBOS's journal of an attempt is of no use once it has ended. */
  async #clean(): Promise<void> {
    await this.store.forget(this.#options.days ?? DEFAULT_DAYS)
    await this.engine.clean(new Date(Date.now() - ENGINE_HOURS * 3_600_000))
  }

  async #tellApprovals(): Promise<void> {
    this.#options.tell({ type: 'approvals', approvals: await this.store.approvals() })
  }
}

function unknownOutcome({ tool, intent }: RunRow): ToolResult {
  const worker = workerOf((intent ?? '').slice(0, intent?.lastIndexOf('/')))
  return unavailable(
    tool,
    `worker '${worker}' was lost while running the call; the outcome of the call is unknown`,
  )
}

function expiredText({ asked_at, expires_at }: RunRow): string {
  const seconds = Math.round((Number(expires_at) - Number(asked_at)) / 100) / 10
  return `nobody answered within ${seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`}`
}
