import type { Pool } from 'pg'
import type { Logger, ToolExecutor } from 'toolpost'
import type { DurableOptions, PublishedTool } from 'toolpost/project'
import { Link } from './database/link.ts'
import { type Notice, Notices } from './database/notices.ts'
import { openPool } from './database/open-pool.ts'
import { prepareDatabase } from './database/schema.ts'
import { launchEngine, registerQueue, stopEngine } from './engine/engine.ts'
import { type ConnectionEvents, heed } from './heed-notice.ts'
import { RunApprovals } from './runs/approvals.ts'
import { Carrier } from './runs/carrier.ts'
import { Ends } from './runs/ends.ts'
import { forgetOldRuns } from './runs/forget-old-runs.ts'
import { letGo } from './runs/held-runs.ts'
import { denied, nobodyOffers, unavailable } from './runs/kept-result.ts'
import type { StoredRun } from './runs/stored-run.ts'
import type { Times } from './times.ts'
import type { Estate } from './workers/estate.ts'
import { freeId, type Identity, identityOf } from './workers/identity.ts'
import { limitOf, poolQueue, queueFor } from './workers/queues.ts'
import { Roster } from './workers/roster.ts'
import { Taking } from './workers/taking.ts'
import { Watch } from './workers/watch.ts'

const DEFAULT_CONCURRENCY = 16

interface ConnectionOptions extends DurableOptions {
  id: string
  pool: string
  role: 'worker' | 'gateway'
  logger: Logger
  times: Times
}

/** Everything that lives as long as the connection to a database. Survives outages of the database. */
export class Connection {
  readonly executor: ToolExecutor
  readonly database: Pool
  readonly notices: Notices
  readonly ends: Ends
  readonly approvals: RunApprovals
  readonly carrier: Carrier
  readonly self: Identity
  readonly roster: Roster
  readonly taking: Taking
  readonly times: Times
  readonly #link: Link
  readonly #watch: Watch
  readonly #options: ConnectionOptions
  readonly #events: ConnectionEvents
  #published: readonly PublishedTool[] = []
  #publishing: Promise<void> = Promise.resolve()

  private constructor(url: URL, self: Identity, options: ConnectionOptions, events: ConnectionEvents) {
    const { executor, logger, times } = options
    this.times = times
    this.#options = options
    this.#events = events
    this.executor = executor
    this.self = self
    this.database = openPool(url, logger)
    this.notices = new Notices(this.database)
    this.ends = new Ends(this.database)
    this.approvals = new RunApprovals(this.database)
    this.roster = new Roster(this.database, self)
    this.carrier = new Carrier({
      ...{ executor, process: self.process },
      onBegin: id => {
        this.taking.began(id)
        this.notices.send({ changed: id })
      },
      onProgress: (id, value) => this.notices.send({ progress: id, value }),
    })
    const isOpen = () => this.#link.isOpen
    this.taking = new Taking({
      ...{ roster: this.roster, pool: self.pool, isOpen, concurrency: this.#concurrency },
      desertedMs: times.desertedMs,
      running: () => this.carrier.taken,
      onEnded: id => this.notices.send({ ended: id }),
    })
    this.#link = new Link(url, self.lockKey, { logger, events: this.#linkEvents() })
    this.#watch = new Watch({
      ...{ roster: this.roster, logger, isOpen },
      onChange: () => this.refresh(),
      onBuried: (process, estate) => this.#buried(process, estate),
      chores: () => this.#chores(),
      clean: async () => void forgetOldRuns(this, options.days).catch(() => {}),
    })
  }

  /** Connects, or throws the reason it cannot, leaving nothing behind. */
  static async open(url: URL, options: ConnectionOptions, events: ConnectionEvents): Promise<Connection> {
    const { id, pool, role } = options
    const connection = new Connection(url, identityOf(id, pool, role), options, events)
    try {
      await prepareDatabase(connection.database, () => connection.#start())
      return connection
    } catch (error) {
      await connection.#link.close()
      await connection.database.end().catch(() => {})
      throw error
    }
  }

  get isOpen(): boolean {
    return this.#link.isOpen
  }

  get #concurrency(): number {
    return this.self.role === 'gateway' ? 0 : (this.#options.concurrency ?? DEFAULT_CONCURRENCY)
  }

  /** The queue for runs of a tool of this pool, and whether they must go through it. */
  queueOf(tool: string): { queue: string; isLimited: boolean } {
    const limit = limitOf(tool, this.#options.limits)
    return { queue: queueFor(this.self.pool, limit), isLimited: limit !== undefined }
  }

  async #start(): Promise<void> {
    const { self, database: pool } = this
    self.id = freeId(self.id, await this.roster.liveIds())
    Object.assign(self, { process: `${self.id}~${self.process.split('~').at(-1)}` })
    const execute = (id: string, run: StoredRun) => this.#execute(id, run)
    const { logger } = this.#options
    await launchEngine({ pool, process: self.process, claims: this.taking, execute, logger })
    try {
      await registerQueue(poolQueue(self.pool))
      await this.#link.open()
    } catch (error) {
      await stopEngine(0)
      throw error
    }
    this.#watch.start()
  }

  /** Tells the others which tools this worker runs. Repeated when the database comes back. */
  publish(tools: readonly PublishedTool[]): Promise<void> {
    this.#published = this.self.role === 'gateway' ? [] : tools
    this.#publishing = this.#publishing.then(() => this.#publishNow()).catch(() => {})
    return this.#publishing
  }

  async #publishNow(): Promise<void> {
    const tools = this.#published.map(tool => ({ tool, ...this.queueOf(tool.name) }))
    const limited = new Map(
      tools.flatMap(({ tool, queue, isLimited }) =>
        isLimited ? [[queue, limitOf(tool.name, this.#options.limits)] as const] : [],
      ),
    )
    for (const [queue, limit] of limited) await registerQueue(queue, limit)
    await this.roster.publish(tools)
    this.taking.offer(tools.map(({ tool }) => tool.name))
    await this.refresh()
    this.notices.send({ workers: true })
    this.taking.announceAll()
  }

  async refresh(): Promise<void> {
    if (await this.roster.refresh()) this.#events.onWorkers()
  }

  /** Lets held runs continue. */
  async release(ids: readonly string[]): Promise<void> {
    for (const queue of await letGo(this.database, ids)) this.notices.send({ queue })
    this.notices.send({ approvals: true })
  }

  /** Lets running calls finish, hands over the rest, and frees this process's name. */
  async close(drainMs: number): Promise<void> {
    await this.#watch.stop()
    await this.#publishing
    // Runs that wait for a person would use up all the time.
    await stopEngine(this.isOpen ? drainMs : 0).catch(() => {})
    this.carrier.handOnAll()
    const wasOpen = this.isOpen
    await this.#link.close()
    if (wasOpen) await this.#leave().catch(() => {})
    this.ends.close()
    await this.database.end().catch(() => {})
  }

  /** Frees what this process has not finished for others to take. */
  async #leave(): Promise<void> {
    const { process, lockKey, pool } = this.self
    const estate = await this.roster.bury({ process, lockKey, pool }, poolQueue(pool))
    if (estate) this.#tellOf(estate)
    await this.notices.sent()
  }

  async #execute(id: string, run: StoredRun) {
    const { tool, pool } = run
    if (!this.carrier.isExpected(id) && !this.taking.isOwn(pool, tool)) {
      this.taking.began(id)
      const since = this.roster.find(pool, tool)?.goneSince
      return unavailable(tool, nobodyOffers(pool, since), id)
    }
    const verdict = run.asked ? await this.approvals.verdictOn(id) : undefined
    if (verdict?.approved === false) {
      this.taking.began(id)
      return denied(tool, verdict.reason, id)
    }
    return this.carrier.carryOut(id, run)
  }

  #linkEvents() {
    return {
      onOpen: async () => {
        await this.roster.register()
        await this.refresh()
        if (this.#published.length > 0) void this.publish(this.#published)
        this.ends.lookForAll()
        this.taking.announceAll()
        this.notices.send({ workers: true })
        this.#events.onApprovals()
        this.#events.onOpen()
      },
      onLost: (reason: string) => this.#events.onLost(reason),
      onNotice: (notice: Notice) => heed(notice, this, this.#events),
    }
  }

  #buried(process: string, estate: Estate): void {
    this.#options.logger.warn({ worker: process }, 'Worker lost; its runs were handed over')
    for (const queue of estate.queues) this.taking.announce(queue)
    this.#tellOf(estate)
  }

  #tellOf({ queues, ended }: Estate): void {
    for (const queue of queues) this.notices.send({ queue })
    for (const id of ended) this.notices.send({ ended: id })
    this.notices.send({ workers: true })
  }

  /** In case a notice was lost. */
  async #chores(): Promise<void> {
    this.taking.announceAll()
    this.ends.lookForAll()
    const expired = await this.approvals.expire()
    if (expired.length > 0) await this.release(expired)
    await this.approvals.look()
  }
}
