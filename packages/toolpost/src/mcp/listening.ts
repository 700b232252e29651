import { setTimeout as pause } from 'node:timers/promises'
import type { Client } from '@modelcontextprotocol/client'
import { LISTEN_GRACE_MS, NO_TIMEOUT_MS, RELISTEN_BASE_DELAY_MS, RELISTEN_MAX_DELAY_MS } from './limits.ts'
import type { ClientEvents, Lister } from './sdk-client.ts'

const LISTS = ['tools', 'resources', 'prompts'] as const

/**
 * Subscribes to changes at a server of the newest protocol, which notifies only subscribers: all on one stream, which is
 * reopened if it is cut. Servers of older protocols notify without a subscription.
 */
export class Listening {
  readonly #client: Client
  readonly #events: ClientEvents
  readonly #uris = new Set<string>()
  /** Ends the current stream. */
  #current = new AbortController()
  #renewal: Promise<void> | undefined
  #delayMs = RELISTEN_BASE_DELAY_MS

  constructor(client: Client, events: ClientEvents) {
    this.#client = client
    this.#events = events
  }

  /** Resolves when the server has accepted, or after a moment: not every server does, and some proxies buffer the response. */
  start(): Promise<void> {
    const isModern = this.#client.getProtocolEra() === 'modern'
    return isModern && this.#lists().length > 0 ? this.#renew() : Promise.resolve()
  }

  /** Subscribes to changes of a resource, whatever the server's protocol. Resolves to a function that unsubscribes. */
  async follow(uri: string, link: Lister): Promise<() => void> {
    if (this.#client.getProtocolEra() !== 'modern') return subscribe(uri, link)
    this.#uris.add(uri)
    await this.#renew()
    return () => {
      if (this.#uris.delete(uri)) void this.#renew()
    }
  }

  /** Batches everything requested in one turn. */
  #renew(): Promise<void> {
    this.#renewal ??= Promise.resolve().then(() => {
      this.#renewal = undefined
      return this.#open()
    })
    return this.#renewal
  }

  async #open(): Promise<void> {
    const before = this.#current
    const current = new AbortController()
    this.#current = current
    if (this.#uris.size > 0 || this.#lists().length > 0) await this.#listen(current.signal)
    before.abort()
  }

  async #listen(signal: AbortSignal): Promise<void> {
    let isLate = false
    const agreed = this.#client.listen(this.#filter(), { signal, timeout: NO_TIMEOUT_MS }).then(
      ({ closed }) => {
        // Changes until now were not reported.
        if (isLate) this.#tellOfAll()
        this.#delayMs = RELISTEN_BASE_DELAY_MS
        void closed.then(cause => !signal.aborted && this.#onCut(cause))
      },
      // Refused: do without.
      () => {},
    )
    await Promise.race([agreed, pause(LISTEN_GRACE_MS, undefined, { ref: false })])
    isLate = true
  }

  #onCut(cause: string): void {
    if (cause === 'remote') this.#events.error(new Error('the change stream was closed by the server'))
    const delayMs = this.#delayMs
    this.#delayMs = Math.min(2 * delayMs, RELISTEN_MAX_DELAY_MS)
    const again = () => this.#client.transport && this.#renew().then(() => this.#tellOfAll())
    setTimeout(() => void again(), delayMs).unref()
  }

  #tellOfAll(): void {
    for (const kind of this.#lists()) this.#events.notice(`notifications/${kind}/list_changed`, {})
  }

  /** The lists whose changes the server says it reports. */
  #lists(): (typeof LISTS)[number][] {
    const capabilities = this.#client.getServerCapabilities() ?? {}
    return LISTS.filter(kind => capabilities[kind]?.listChanged)
  }

  #filter(): object {
    const lists = Object.fromEntries(this.#lists().map(kind => [`${kind}ListChanged`, true]))
    return { ...lists, ...(this.#uris.size > 0 && { resourceSubscriptions: [...this.#uris] }) }
  }
}

async function subscribe(uri: string, link: Lister): Promise<() => void> {
  await link.request('resources/subscribe', { uri })
  return () => void link.request('resources/unsubscribe', { uri }).catch(() => {})
}
