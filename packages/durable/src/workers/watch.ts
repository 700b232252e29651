import type { Logger } from 'toolpost'
import { messageOf } from '../database/database-problem.ts'
import type { Estate } from './estate.ts'
import { poolQueue } from './queues.ts'
import type { Missing, Roster } from './roster.ts'

const LOOK_EVERY_MS = 500
/** A process without its lock for this long is dead: one that only lost its connection is back by then. */
const DEAD_AFTER_MS = 900
/** After PostgreSQL starts, everybody has to reconnect first. */
const GRACE_MS = 3_000
const ALIVE_EVERY = 4
const CHORES_EVERY = 2
const CLEAN_EVERY = 7_200

interface WatchOptions {
  roster: Roster
  logger: Logger
  isOpen(): boolean
  /** Other processes have come or gone. */
  onChange(): Promise<void>
  /** A process died, and its runs were handed over. */
  onBuried(process: string, estate: Estate): void
  /** Runs every second. */
  chores(): Promise<void>
  /** Runs every hour. */
  clean(): Promise<void>
}

/** Watches the other processes, and hands over the runs of those that died. */
export class Watch {
  readonly #options: WatchOptions
  readonly #missingSince = new Map<string, number>()
  #picture: string | undefined
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<void> = Promise.resolve()
  #looks = 0
  #isStopped = false

  constructor(options: WatchOptions) {
    this.#options = options
  }

  start(): void {
    if (this.#isStopped) return
    this.#timer = setTimeout(() => {
      this.#looking = this.#look().finally(() => this.start())
    }, LOOK_EVERY_MS)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    await this.#looking
  }

  async #look(): Promise<void> {
    const { isOpen, roster, logger } = this.#options
    // What was seen before the outage no longer says anything.
    if (!isOpen()) return this.#missingSince.clear()
    try {
      const look = this.#looks++
      const { missing, picture } = await roster.missing(GRACE_MS)
      await this.#bury(missing)
      if (picture !== this.#picture) await this.#options.onChange()
      this.#picture = picture
      if (look % CHORES_EVERY === 0) await this.#options.chores()
      if (look % ALIVE_EVERY === 0) await roster.sayAlive()
      if (look % CLEAN_EVERY === 0) await this.#options.clean()
    } catch (error) {
      logger.debug({ error: messageOf(error) }, 'Could not check on the other workers')
    }
  }

  async #bury(missing: readonly Missing[]): Promise<void> {
    const names = new Set(missing.map(({ process }) => process))
    for (const process of this.#missingSince.keys())
      if (!names.has(process)) this.#missingSince.delete(process)
    const now = performance.now()
    for (const one of missing) {
      const since = this.#missingSince.get(one.process) ?? now
      this.#missingSince.set(one.process, since)
      if (now - since < DEAD_AFTER_MS) continue
      const estate = await this.#options.roster.bury(one, poolQueue(one.pool))
      if (estate) this.#options.onBuried(one.process, estate)
    }
  }
}
