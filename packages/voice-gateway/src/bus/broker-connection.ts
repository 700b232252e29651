import type { IPublishPacket, IStore, MqttClient } from 'mqtt'
import type { Clock, Logger, Timer } from 'toolpost'
import { withoutCredentials } from './broker-address.ts'
import { explainFailure } from './explain-failure.ts'
import type { Delivery } from './inbox.ts'
import { type ClientSettings, connectClient, reconnectDelayMs } from './mqtt-client.ts'
import { FILTERS } from './topics.ts'

/** Whether the broker can be used now. `connected` implies subscribed. */
export type BusState =
  | { readonly status: 'connecting' }
  | { readonly status: 'connected' }
  | { readonly status: 'offline'; readonly cause: string }

export interface ConnectionOptions {
  readonly settings: ClientSettings
  readonly url: string
  readonly logger: Logger
  readonly clock: Clock
  /** Nothing more is read from the broker until it resolves. */
  onMessage(delivery: Delivery): Promise<void>
  /** The broker will not resend this QoS 2 message. */
  onReleased(messageId: number): void
  /** `isResumed`: the broker still has our session. */
  onOpen(isResumed: boolean): void
  onShut(): void
  onState(state: BusState): void
}

const FAREWELL_MS = 1_000
/** A connection that lasted this long was not taken over by another client with our id. */
const STABLE_MS = 1_000
/** This many shorter ones in a row mean that somebody else is using our client id. */
const SHORT_CONNECTIONS = 5
/** How long a client backs off when two fight over an id, so that one of them works. */
const FOUGHT_OVER_PAUSE_MS = 60_000

/**
 * Listens to a broker until closed. mqtt.js reconnects; we add the growing pauses, the subscription (mqtt.js does not
 * report when a later one is refused), and a session that starts clean and then persists.
 */
export class BrokerConnection {
  readonly #options: ConnectionOptions
  readonly #opening: Promise<MqttClient>
  #client: MqttClient | undefined
  #state: BusState = { status: 'connecting' }
  #failure: unknown
  #attempts = 0
  #openedAt: number | undefined
  #shortConnections = 0
  #stable: Timer | undefined
  #isFresh = false
  #isClosed = false

  constructor(options: ConnectionOptions) {
    this.#options = options
    this.#opening = this.#open()
  }

  get state(): BusState {
    return this.#state
  }

  /** Ends the connection. The broker stops queueing messages for us. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#stable?.cancel()
    const client = await this.#opening
    const timer = this.#options.clock.setTimer(() => client.stream.destroy(), FAREWELL_MS)
    if (client.connected) await client.unsubscribeAsync(FILTERS).catch(() => {})
    await client.endAsync(!client.connected)
    timer.cancel()
  }

  async #open(): Promise<MqttClient> {
    const client = await connectClient({
      ...this.#options.settings,
      resubscribe: false,
      // Acknowledgements count as QoS 0 and are meaningless on a later connection.
      queueQoSZero: false,
      incomingStore: this.#takingStore(),
    })
    this.#client = client
    client.handleMessage = (packet, done) => void this.#take(packet).then(() => done())
    client.on('error', error => {
      this.#failure = error
    })
    client.on('connect', ({ sessionPresent }) => void this.#opened(client, sessionPresent))
    // Runs before mqtt.js's own listener, which starts the pause set here.
    client.prependListener('close', () => this.#closed(client))
    return client
  }

  /**
   * A QoS 2 message is handled when it arrives, as the protocol allows, not when it is released: aedes 1.2 releases
   * some messages twice and others never. So nothing is stored in between.
   */
  #takingStore(): IStore {
    const store: IStore = {
      put: (packet, done) => {
        this.#take(packet as IPublishPacket).then(() => done())
        return store
      },
      get: ({ messageId }, done) => {
        if (messageId !== undefined) this.#options.onReleased(messageId)
        done(new Error('already handled'))
        return store
      },
      del: (_packet, done) => {
        done()
        return store
      },
      createStream: () => {
        throw new Error('nothing is stored')
      },
      close: done => done(),
    }
    return store
  }

  #take({ topic, payload, qos, messageId, dup, retain }: IPublishPacket): Promise<void> {
    const bytes = typeof payload === 'string' ? Buffer.from(payload) : payload
    const isLate = !this.#client?.connected
    return this.#options.onMessage({ topic, payload: bytes, qos, messageId, dup, retain, isLate })
  }

  async #opened(client: MqttClient, isResumed: boolean): Promise<void> {
    if (!this.#isFresh) return this.#forgetFormerLife(client)
    const { clock, onOpen } = this.#options
    this.#openedAt = clock.now()
    onOpen(isResumed)
    try {
      // Subscribed at QoS 2, each message arrives with the QoS its sender chose.
      await client.subscribeAsync(FILTERS, { qos: 2 })
    } catch {
      return this.#notSubscribed(client)
    }
    if (this.#isClosed) return
    this.#stable = clock.setTimer(() => this.#holds(), STABLE_MS)
    if (!this.#suspicion()) this.#setState({ status: 'connected' })
  }

  /**
   * The clean session has discarded what the broker kept for a former process. MQTT 3.1.1 needs a separate connection
   * for that, because a clean session does not persist.
   */
  #forgetFormerLife(client: MqttClient): void {
    this.#isFresh = true
    client.options.clean = false
    client.stream.destroy()
  }

  #notSubscribed(client: MqttClient): void {
    if (!client.connected) return
    this.#failure = new Error(`it refused the subscription to ${FILTERS.join(' and ')}`)
    // We hang up ourselves here, so this does not count as a takeover.
    this.#openedAt = Number.NEGATIVE_INFINITY
    client.stream.destroy()
  }

  #closed({ options, connected }: MqttClient): void {
    const isOnlyFresh = connected && this.#openedAt === undefined
    if (isOnlyFresh) options.reconnectPeriod = 1
    if (isOnlyFresh || this.#isClosed) return
    this.#stable?.cancel()
    this.#noteLength()
    if (connected) this.#options.onShut()
    const suspicion = this.#suspicion()
    options.reconnectPeriod = suspicion ? FOUGHT_OVER_PAUSE_MS : reconnectDelayMs(this.#attempts++)
    this.#setState({ status: 'offline', cause: suspicion ?? explainFailure(this.#failure) })
    this.#failure = undefined
  }

  /** An unreachable broker has other problems, so it resets the count: a rival does not take the broker down. */
  #noteLength(): void {
    if (this.#openedAt === undefined) this.#shortConnections = 0
    else if (this.#options.clock.now() - this.#openedAt < STABLE_MS) this.#shortConnections += 1
    this.#openedAt = undefined
  }

  #holds(): void {
    this.#shortConnections = 0
    this.#attempts = 0
    this.#setState({ status: 'connected' })
  }

  #suspicion(): string | undefined {
    if (this.#shortConnections < SHORT_CONNECTIONS) return undefined
    const advice = 'set voice.mqtt.clientId to a unique one'
    return `another client seems to be using the client id "${this.#options.settings.clientId}" and closing our connections: ${advice}`
  }

  #setState(state: BusState): void {
    const { logger, url, onState } = this.#options
    const broker = withoutCredentials(url)
    if (JSON.stringify(state) === JSON.stringify(this.#state)) return
    this.#state = state
    if (state.status === 'offline')
      logger.warn({ broker, cause: state.cause }, 'MQTT broker unreachable; retrying')
    else logger.info({ broker, client_id: this.#options.settings.clientId }, 'Connected to the MQTT broker')
    onState(state)
  }
}
