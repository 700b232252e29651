import { type Clock, systemClock, type Timer } from '../executor/clock.ts'
import type { ServerStatus } from '../mcp/server-status.ts'
import { SERVER_LOOK_MS } from './limits.ts'

export interface ServerWatchOptions {
  status(): ServerStatus[]
  /** Given the servers after something about them changed. */
  onChange(servers: ServerStatus[]): void
  clock?: Clock | undefined
}

/** Looks at the servers for as long as somebody wants to know. */
export class ServerWatch {
  readonly #options: ServerWatchOptions
  readonly #clock: Clock
  #timer: Timer | undefined
  #isWatching = false
  #seen = ''

  constructor(options: ServerWatchOptions) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
  }

  start(): void {
    if (this.#isWatching) return
    this.#isWatching = true
    this.#seen = JSON.stringify(this.#options.status())
    this.#wait()
  }

  stop(): void {
    this.#isWatching = false
    this.#timer?.cancel()
  }

  /** Looks at once, for those who know that something has happened. */
  look(): void {
    if (!this.#isWatching) return
    const servers = this.#options.status()
    const now = JSON.stringify(servers)
    if (now === this.#seen) return
    this.#seen = now
    this.#options.onChange(servers)
  }

  #wait(): void {
    this.#timer = this.#clock.setTimer(() => {
      this.look()
      if (this.#isWatching) this.#wait()
    }, SERVER_LOOK_MS)
    this.#timer.hold(false)
  }
}
