import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { DurableChange, DurableOptions, DurableStatus, PublishedTool } from 'toolpost/project'
import * as database from './database.ts'
import { type Embedded, startEmbedded } from './embedded.ts'
import {
  approvalOf,
  denied,
  IN_TIME,
  nobodyRuns,
  prepareDatabase,
  type RunRow,
  Store,
  unknown,
} from './store.ts'
import { Waiters } from './waiters.ts'
import { Workers } from './workers.ts'
import { Runner } from './workflow.ts'

const FIRST_RETRY_MS = 50
const LONGEST_RETRY_MS = 500
const LOOK_EVERY_MS = 1_000
/** In looks. */
const RARELY = 5
const CLEAN_EVERY = 60
const DEFAULT_CONCURRENCY = 16
const DEFAULT_DAYS = 30
/** Of old runs at once, so that nothing is blocked for long. */
const MAX_FORGOTTEN = 5_000
/** Stands for the tools without an MCP server, among the servers. */
const LOCAL = 'local'

interface ConnectionOptions extends DurableOptions {
  id: string
  pool: string
  role: 'worker' | 'gateway'
  /** How long a run with a key waits for somebody with its tool. */
  desertedMs: number
}

/** What exists once the database has been prepared, and survives its outages. */
export interface Engine {
  pool: pg.Pool
  store: Store
  workers: Workers
  waiters: Waiters
  runner: Runner
}

/** Connects to the database, reconnects, and does what has to be done every second. */
export class Connection {
  readonly #options: ConnectionOptions
  readonly listeners = new Set<(change: DurableChange) => void>()
  status: DurableStatus = { state: 'starting', text: 'connecting to PostgreSQL' }
  /** Resolves when it is connected for the first time, or has failed. */
  readonly tried = new Promise<void>(resolve =>
    this.listeners.add(({ type }) => type === 'state' && resolve()),
  )
  place = 'PostgreSQL'
  /** Trying again is pointless. */
  isHopeless = false
  engine: Engine | undefined
  published: readonly PublishedTool[] = []
  /** Starts as many waiting runs as there is room for. */
  readonly take = oneAtATime(() => this.#take())
  readonly #look = oneAtATime(() => this.#lookAround())
  readonly #takesRuns: boolean
  readonly #ended = new AbortController()
  readonly #connecting: Promise<void>
  #isClosing = false
  #embedded: Embedded | undefined
  #removeInterceptor: (() => void) | undefined
  #looks = 0
  /** Dead processes whose runs were taken over. */
  #swept: string[] = []
  /** The tool that another project was warned about. */
  #clash: string | undefined

  constructor(options: ConnectionOptions) {
    this.#options = options
    this.#takesRuns = options.role === 'worker' && options.concurrency !== 0
    this.#connecting = this.#connect()
  }

  /** Lets running calls finish, hands over the rest, and stops the database if it was started here. */
  async close(drainMs: number): Promise<void> {
    this.#isClosing = true
    if (!this.engine) this.#ended.abort()
    if (!this.engine) await this.#connecting
    const isReady = this.status.state === 'ready'
    await Promise.all([this.#look.ended(), this.take.ended()])
    await this.engine?.runner.stop(isReady ? drainMs : 0)
    this.#ended.abort()
    await this.#connecting
    if (this.engine) {
      const { pool, store, workers, waiters } = this.engine
      const leave = 'UPDATE toolpost.workers SET closed = true WHERE process = $1'
      if (isReady) await this.#takeOver([workers.process]).catch(() => {})
      if (isReady) await store.query(leave, [workers.process]).catch(() => {})
      this.#removeInterceptor?.()
      waiters.close()
      await pool.end().catch(() => {})
    }
    await this.#embedded?.stop()
    this.#become({ state: 'failed', text: 'durable calls have been shut down' })
  }

  /**
   * Connects, again and again unless that is pointless. The connection proves that this process is alive: it holds an
   * advisory lock, which PostgreSQL frees when the process dies, and listens for notices from the others.
   */
  async #connect(): Promise<void> {
    const { signal } = this.#ended
    const ended = once(signal, 'abort')
    for (let delayMs = FIRST_RETRY_MS; !this.#isClosing; delayMs = Math.min(delayMs * 2, LONGEST_RETRY_MS)) {
      let client: pg.Client | undefined
      try {
        const url = await this.#url()
        client = new pg.Client(database.connectionTo(url))
        client.on('error', () => {})
        const lost = once(client, 'end').catch(database.messageOf)
        await client.connect()
        this.engine ??= await this.#prepare(url)
        await this.#enter(this.engine, client)
        const isBack = this.status.state === 'lost'
        this.#become({ state: 'ready', text: `connected to ${this.place}` })
        if (isBack) this.#notice(`PostgreSQL at ${this.place} is reachable again; durable calls continue`)
        const timer = setInterval(this.#look, LOOK_EVERY_MS)
        const reason = await Promise.race([lost, ended])
        clearInterval(timer)
        if (signal.aborted) return
        delayMs = FIRST_RETRY_MS
        const why = typeof reason === 'string' ? reason : 'the connection was closed'
        const text = `PostgreSQL at ${this.place} is unreachable (${why}); reconnecting`
        this.#become({ state: 'lost', text })
        this.#notice(`${text}. Calls that need it fail until then; accepted ones continue afterwards`)
      } catch (error) {
        const { message, isLasting } = database.problemOf(error, this.place)
        this.isHopeless = isLasting && !this.engine
        const text = isLasting ? message : `${message}; retrying`
        if (!this.engine) this.#become({ state: 'failed', text })
        if (this.isHopeless) return
      } finally {
        void client?.end().catch(() => {})
      }
      await sleep(delayMs, undefined, { signal }).catch(() => {})
    }
  }

  /** Where the database is; the embedded one is started unless it is running. */
  async #url(): Promise<URL> {
    const { databaseUrl, dataDir = '', onNotice } = this.#options
    if (databaseUrl === undefined) {
      await this.#embedded?.restart()
      this.#embedded ??= await startEmbedded(dataDir, { onNotice })
    }
    const url = this.#embedded?.url ?? database.checkedUrl(databaseUrl ?? '')
    this.place = `${url.host || 'the local socket'}${url.pathname}${this.#embedded ? ' (embedded)' : ''}`
    return url
  }

  /** Prepares the database and DBOS, or throws the reason it cannot, leaving nothing behind. */
  async #prepare(url: URL): Promise<Engine> {
    const { executor, logger, servers = [], limits = {}, concurrency = DEFAULT_CONCURRENCY } = this.#options
    const pool = database.openPool(url)
    const store = new Store(pool)
    const workers = new Workers(store, this.#options)
    const waiters = new Waiters(store, run => this.#tell({ type: 'run', run }))
    const limited = this.#takesRuns ? [LOCAL, ...servers].filter(name => limits[name]) : []
    const options = {
      ...{ pool, store, executor, logger, process: workers.process, concurrency },
      queues: new Map(limited.map(server => [`${workers.pool}/${server}`, limits[server] ?? {}])),
      onEnd: (...ended: Parameters<Waiters['settle']>) => {
        waiters.settle(...ended)
        this.take()
      },
    }
    try {
      const runner = await database.alone(pool, async () => {
        await prepareDatabase(pool)
        return Runner.launch(options)
      })
      const use = this.#options.use ?? (interceptor => executor.use(interceptor))
      this.#removeInterceptor = use(runner.interceptor)
      return { pool, store, workers, waiters, runner }
    } catch (error) {
      await pool.end().catch(() => {})
      throw error
    }
  }

  /** Joins the others, over a new connection. */
  async #enter({ workers, store }: Engine, client: pg.Client): Promise<void> {
    await client.query('SELECT pg_advisory_lock($1, $2)', [database.LOCKS, workers.lockKey])
    client.on('notification', ({ payload = '{}' }) => this.#handleNotice(JSON.parse(payload)))
    await client.query(`LISTEN ${database.CHANNEL}`)
    await workers.register()
    await this.publish()
    await workers.look()
    this.#tell({ type: 'workers' })
    await this.#tellApprovals(store)
  }

  /** Tells the others which tools this worker runs. */
  async publish(): Promise<void> {
    const { pool, role, limits = {} } = this.#options
    if (role === 'gateway' || this.published.length === 0) return
    const queueOf = (server = LOCAL) => (limits[server] ? `${pool}/${server}` : null)
    const tools = this.published.map(tool => ({ ...tool, queue: queueOf(tool.server) }))
    await this.engine?.workers.publish(tools)
    // Runs may be waiting for a tool that has just appeared.
    this.take()
  }

  #handleNotice(notice: { workers?: boolean; run?: string; state?: string; asks?: boolean }): void {
    if (notice.workers) this.#look()
    if (notice.run === undefined || !this.engine) return
    if (notice.state === 'waiting') this.take()
    if (notice.state === 'cancelled') this.engine.runner.lose(notice.run)
    if (notice.asks) void this.#tellApprovals(this.engine.store).catch(() => {})
    this.engine.waiters.note(notice.run)
  }

  async #tellApprovals(store: Store): Promise<void> {
    const rows = await store.query(
      `SELECT * FROM toolpost.runs WHERE ended_at IS NULL AND state = 'approval' AND ${IN_TIME} ORDER BY asked_at LIMIT 1000`,
    )
    this.#tell({ type: 'approvals', approvals: rows.map(approvalOf) })
  }

  async #take(): Promise<void> {
    if (!this.engine || !this.#takesRuns || this.#isClosing) return
    const { store, runner, workers } = this.engine
    const tools = this.#options.executor.tools.getTools().map(({ name }) => name)
    await runner.enqueue(tools)
    if (runner.room <= 0) return
    const rows = await store.query(
      `UPDATE toolpost.runs SET state = 'running', worker = $4, started_at = now() WHERE id IN (
         SELECT id FROM toolpost.runs WHERE ended_at IS NULL AND state = 'waiting' AND queue IS NULL
           AND pool = $1 AND tool = ANY($2) ORDER BY created_at LIMIT $3 FOR UPDATE SKIP LOCKED) RETURNING *`,
      [workers.pool, tools, runner.room, workers.process],
    )
    for (const row of rows) runner.start(row)
  }

  /** Every second: who is alive, and whatever a lost notice would have said. */
  async #lookAround(): Promise<void> {
    if (!this.engine || this.#isClosing) return
    const { store, workers, waiters, runner } = this.engine
    const { isChanged, dead } = await workers.look()
    if (isChanged) this.#tell({ type: 'workers' })
    if (isChanged) this.#warnOfClash(workers)
    const unswept = dead.filter(name => !this.#swept.includes(name))
    if (unswept.length > 0) await this.#takeOver(unswept)
    this.#swept = dead
    const own = runner.ids
    for (const { id, ended_at, worker } of await waiters.look([...waiters.ids, ...own]))
      if (own.includes(id) && (ended_at || worker !== workers.process)) runner.lose(id)
    const look = this.#looks++
    if (look % RARELY === 0) {
      // Taken by this process, but PostgreSQL was gone before it could say so.
      const isForgotten = "worker = $2 AND NOT id = ANY($3) AND started_at < now() - interval '5 s'"
      await store.requeue(isForgotten, [workers.process, runner.ids])
      await this.#endOverdue(store)
      this.take()
    }
    if (look % CLEAN_EVERY !== 0) return
    await workers.forget(this.#swept)
    await store.query(
      `DELETE FROM toolpost.runs WHERE id IN (SELECT id FROM toolpost.runs
         WHERE ended_at < now() - $1::float8 * interval '1 day' LIMIT ${MAX_FORGOTTEN})`,
      [this.#options.days ?? DEFAULT_DAYS],
    )
    await runner.clean()
  }

  /** Two projects that share a database and a pool would run each other's calls. */
  #warnOfClash(workers: Workers): void {
    const tool = workers.clash()
    if (tool === undefined || tool === this.#clash) return
    this.#clash = tool
    this.#notice(
      `⚠️ Another worker of pool '${workers.pool}' in this database defines '${tool}' differently. If it belongs to another project, give each its own "pool" under "durable", or its own database`,
    )
  }

  /**
   * Takes over the runs of processes that died: those that may have invoked their tool end with an unknown outcome, the
   * others wait for the next worker.
   */
  async #takeOver(dead: string[]): Promise<void> {
    if (!this.engine) return
    const { store, runner, waiters } = this.engine
    await store.requeue('worker = ANY($2)', [dead], 1)
    const orphans = await store.query(
      'SELECT * FROM toolpost.runs WHERE ended_at IS NULL AND worker = ANY($1)',
      [dead],
    )
    for (const row of orphans) {
      const result = unknown(row)
      if (await store.finish(row, result, true)) waiters.settle(row.id, { ...result, run_id: row.id })
    }
    if (!this.#isClosing) await runner.reclaim(dead)
  }

  /** Ends runs that nobody decided about in time, and those whose tool nobody has had for long: they may be sent again. */
  async #endOverdue(store: Store): Promise<void> {
    const rows = await store.query<RunRow & { gone: Date | null }>(
      `SELECT r.*, gone FROM toolpost.runs r, LATERAL (SELECT max(seen_at) AS gone, bool_or(NOT dead) AS served
         FROM toolpost.processes p
         WHERE p.pool = r.pool AND p.tools @> jsonb_build_array(jsonb_build_object('name', r.tool))) p
       WHERE ended_at IS NULL AND (state = 'approval' AND NOT ${IN_TIME}
         OR state = 'waiting' AND served IS NOT TRUE AND now() - pg_postmaster_start_time() > interval '4 s'
         AND (key IS NULL OR greatest(created_at, gone) < now() - $1::float8 * interval '1 ms')) LIMIT 1000`,
      [this.#options.desertedMs],
    )
    for (const row of rows) {
      const isExpired = row.state === 'approval'
      const seconds = Number(row.patience_ms) / 1_000
      const text = `nobody answered within ${seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`}`
      const result = isExpired ? denied(row.tool, text) : nobodyRuns(row.tool, [row.pool], row.gone)
      await store.finish(row, result, isExpired)
    }
  }

  #become(status: DurableStatus): void {
    this.status = status
    this.#tell({ type: 'state' })
  }

  #notice(text: string): void {
    this.#options.logger?.warn({ state: this.status.state }, text)
    this.#options.onNotice?.(text)
  }

  /** A listener that throws does not affect the others. */
  #tell(change: DurableChange): void {
    for (const listener of this.listeners) {
      try {
        listener(change)
      } catch (error) {
        this.#options.logger?.warn(
          { error: database.messageOf(error) },
          'A listener for durable calls failed',
        )
      }
    }
  }
}

/** Runs `work` again if it was asked for meanwhile, but never twice at once. What fails is tried again the next time. */
function oneAtATime(work: () => Promise<void>): (() => void) & { ended(): Promise<void> } {
  let running: Promise<void> | undefined
  let isWanted = false
  const loop = async () => {
    for (; isWanted; await work().catch(() => {})) isWanted = false
    running = undefined
  }
  const ask = () => {
    isWanted = true
    running ??= loop()
  }
  return Object.assign(ask, { ended: async () => running })
}
