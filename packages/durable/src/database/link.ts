import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Logger } from 'toolpost'
import { messageOf } from './database-problem.ts'
import { CHANNEL, type Notice, readNotices } from './notices.ts'
import { connectionOf } from './open-pool.ts'
import { LOCKS } from './schema.ts'

const FIRST_DELAY_MS = 50
const LONGEST_DELAY_MS = 500

/** Makes the server drop a client that vanished without closing its connection (a cut link) within about six seconds. */
const NOTICE_SILENCE = `
  SET tcp_keepalives_idle = 2;
  SET tcp_keepalives_interval = 1;
  SET tcp_keepalives_count = 4;
  SET tcp_user_timeout = 6000;
`

export interface LinkEvents {
  /** Connected, and seen as alive by the others: the lock is held. */
  onOpen(): Promise<void>
  onLost(reason: string): void
  onNotice(notice: Notice): void
}

/**
 * The one connection that proves this process is alive: it holds an advisory lock, which PostgreSQL frees when the
 * process dies, and listens for notices from the others. Reconnects by itself.
 */
export class Link {
  readonly #url: URL
  readonly #lockKey: number
  readonly #events: LinkEvents
  readonly #logger: Logger
  #client: pg.Client | undefined
  #isClosed = false
  isOpen = false

  constructor(url: URL, lockKey: number, { events, logger }: { events: LinkEvents; logger: Logger }) {
    this.#url = url
    this.#lockKey = lockKey
    this.#events = events
    this.#logger = logger
  }

  /** Connects once; rejects if that fails. Once open, it reconnects by itself. */
  async open(): Promise<void> {
    const client = new pg.Client(connectionOf(this.#url))
    client.on('error', error => this.#lose(client, messageOf(error)))
    client.on('end', () => this.#lose(client, 'the connection was closed'))
    client.on('notification', ({ payload }) => {
      for (const notice of readNotices(payload)) this.#events.onNotice(notice)
    })
    try {
      await client.connect()
      await client.query(NOTICE_SILENCE)
      // The setting exists since PostgreSQL 14; it matters only if the server sets it.
      await client.query('SET idle_session_timeout = 0').catch(() => {})
      await client.query('SELECT pg_advisory_lock($1, $2)', [LOCKS, this.#lockKey])
      await client.query(`LISTEN ${CHANNEL}`)
      if (this.#isClosed) throw new Error('closed')
      this.#client = client
      await this.#events.onOpen()
      this.isOpen = this.#client === client
    } catch (error) {
      this.#client = undefined
      void client.end().catch(() => {})
      throw error
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.isOpen = false
    const client = this.#client
    this.#client = undefined
    await client?.end().catch(() => {})
  }

  #lose(client: pg.Client, reason: string): void {
    if (client !== this.#client) return
    this.#client = undefined
    this.isOpen = false
    void client.end().catch(() => {})
    this.#events.onLost(reason)
    void this.#reopen()
  }

  async #reopen(): Promise<void> {
    for (let delayMs = FIRST_DELAY_MS; !this.#isClosed; delayMs = Math.min(delayMs * 2, LONGEST_DELAY_MS)) {
      await sleep(delayMs)
      if (this.#isClosed) return
      try {
        return await this.open()
      } catch (error) {
        this.#logger.debug({ error: messageOf(error) }, 'PostgreSQL is unreachable; retrying')
      }
    }
  }
}
