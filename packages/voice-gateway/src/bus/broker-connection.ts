import { hostname } from 'node:os'
import type { IClientOptions } from 'mqtt'
import type { Clock, Logger, Timer } from 'toolpost'
import { brokerAddress, withoutCredentials } from 'toolpost-common/broker-address'
import { BrokerLink, type LinkOptions } from './broker-link.ts'
import { explainFailure } from './explain-failure.ts'
import type { Send } from './outbox.ts'
import { ReconnectDelays } from './reconnect-delays.ts'

/** Whether the broker can be used now. `connected` means subscribed too. */
export type BusState =
  | { readonly status: 'connecting' }
  | { readonly status: 'connected' }
  | { readonly status: 'offline'; readonly cause: string }

export interface ConnectionOptions extends Pick<LinkOptions, 'onMessage' | 'onReleased'> {
  readonly url: string
  readonly username?: string | undefined
  readonly password?: string | undefined
  readonly clientId?: string | undefined
  readonly logger: Logger
  readonly clock: Clock
  /** There is a connection; `isResumed`: to a broker that still has our session. */
  onOpen(send: Send, isResumed: boolean): void
  onShut(): void
  onState(state: BusState): void
}

/** A connection that held for this long is no accident. */
const STABLE_MS = 1_000
/** So many connections in a row that held for less mean that somebody else has our client id. */
const SHORT_CONNECTIONS = 5
/** Two that fight over a client id leave each other in peace for this long, so that one of them can be used. */
const FOUGHT_OVER_PAUSE_MS = 60_000

/**
 * Stays connected to a broker: for ever, with growing pauses. What the broker kept for a former process is thrown
 * away at the start, what it keeps during a loss of connection is delivered.
 */
export class BrokerConnection {
  readonly #options: ConnectionOptions
  readonly #address: IClientOptions
  readonly #clientId: string
  readonly #delays = new ReconnectDelays()
  #state: BusState = { status: 'connecting' }
  #link: BrokerLink | undefined
  #isFresh = false
  #shortConnections = 0
  #isClosed = false
  #wakeUp: () => void = () => {}
  #running: Promise<void> | undefined

  /** Throws where the URL is none. */
  constructor(options: ConnectionOptions) {
    const { url, username, password, clientId } = options
    this.#options = options
    this.#clientId = clientId || `toolpost-voice-${hostname()}`
    this.#address = {
      ...brokerAddress(url),
      clientId: this.#clientId,
      ...(username !== undefined && { username }),
      ...(password !== undefined && { password }),
    }
  }

  get state(): BusState {
    return this.#state
  }

  start(): void {
    this.#running ??= this.#run()
  }

  /** Ends the connection. The broker keeps nothing for us from now on. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#wakeUp()
    await this.#link?.close({ clock: this.#options.clock, unsubscribe: true })
    await this.#running
  }

  async #run(): Promise<void> {
    while (!this.#isClosed) {
      const cause = await this.#connect().catch(explainFailure)
      if (this.#isClosed) return
      const suspicion = this.#suspicion()
      this.#setState({ status: 'offline', cause: suspicion ?? cause })
      await this.#pause(suspicion ? FOUGHT_OVER_PAUSE_MS : this.#delays.next())
    }
  }

  /** Resolves with the reason when the connection is over. */
  async #connect(): Promise<string> {
    if (!this.#isFresh) await this.#forgetFormerLife()
    const link = await this.#open(false)
    const { sessionPresent } = await link.opened.catch(error => this.#notLetIn(error))
    const since = this.#options.clock.now()
    try {
      await link.subscribe()
      return await this.#use(link, sessionPresent)
    } finally {
      // A connection that we end ourselves, since we may not subscribe, tells nothing about others.
      if (!link.isOpen && this.#options.clock.now() - since < STABLE_MS) this.#shortConnections += 1
      if (!this.#isClosed) await link.close({ clock: this.#options.clock })
    }
  }

  async #use(link: BrokerLink, isResumed: boolean): Promise<string> {
    const { clock, onOpen, onShut } = this.#options
    const stable = clock.setTimer(() => this.#holds(), STABLE_MS)
    onOpen((message, acknowledged) => link.publish(message, acknowledged), isResumed)
    if (!this.#suspicion()) this.#setState({ status: 'connected' })
    const reason = await link.closed
    stable.cancel()
    onShut()
    return explainFailure(reason)
  }

  async #forgetFormerLife(): Promise<void> {
    const link = await this.#open(true)
    await link.opened
    await link.close({ clock: this.#options.clock })
    this.#isFresh = true
  }

  async #open(clean: boolean): Promise<BrokerLink> {
    const { onMessage, onReleased } = this.#options
    const link = await BrokerLink.open({ address: this.#address, clean, onMessage, onReleased })
    this.#link = link
    if (this.#isClosed) await link.close({ clock: this.#options.clock })
    return link
  }

  /** Whoever takes our place leaves the broker as it is: one that cannot be reached has troubles of its own. */
  #notLetIn(error: unknown): never {
    this.#shortConnections = 0
    throw error
  }

  #holds(): void {
    this.#shortConnections = 0
    this.#delays.reset()
    this.#setState({ status: 'connected' })
  }

  #suspicion(): string | undefined {
    if (this.#shortConnections < SHORT_CONNECTIONS) return undefined
    const advice = 'give this gateway one of its own, as voice.mqtt.clientId'
    return `another client seems to use the client id "${this.#clientId}" and to end our connections: ${advice}`
  }

  async #pause(delayMs: number): Promise<void> {
    let timer: Timer | undefined
    await new Promise<void>(resolve => {
      this.#wakeUp = resolve
      timer = this.#options.clock.setTimer(resolve, delayMs)
    })
    timer?.cancel()
  }

  #setState(state: BusState): void {
    const { logger, url, onState } = this.#options
    const broker = withoutCredentials(url)
    if (JSON.stringify(state) === JSON.stringify(this.#state)) return
    this.#state = state
    if (state.status === 'offline')
      logger.warn({ broker, cause: state.cause }, 'the MQTT broker is not there; trying again and again')
    else logger.info({ broker, client_id: this.#clientId }, 'connected to the MQTT broker')
    onState(state)
  }
}
