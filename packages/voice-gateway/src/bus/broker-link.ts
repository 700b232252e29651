import { Socket } from 'node:net'
import type { IClientOptions, IConnackPacket, IPublishPacket, IStore, MqttClient, Packet } from 'mqtt'
import type { Clock } from 'toolpost'
import type { Delivery } from './inbox.ts'
import type { OutgoingMessage } from './outbox.ts'
import { FILTERS } from './topics.ts'

export interface LinkOptions {
  readonly address: IClientOptions
  /** Whether the broker forgets the session that it has under this client id. */
  readonly clean: boolean
  onMessage(delivery: Delivery): void
  /** The broker will not repeat this message of QoS 2 any more. */
  onReleased(messageId: number): void
}

const CONNECT_TIMEOUT_MS = 5_000
const KEEPALIVE_S = 15
const FAREWELL_MS = 1_000

/** One connection to a broker, from its opening to its end. It never comes back by itself. */
export class BrokerLink {
  readonly #client: MqttClient
  /** Rejects where the connection does not come about. */
  readonly opened: Promise<IConnackPacket>
  /** Resolves with the reason when the connection is over. */
  readonly closed: Promise<Error>

  static async open(options: LinkOptions): Promise<BrokerLink> {
    hushPackets()
    const { connect } = await import('mqtt')
    return new BrokerLink(connect(clientOptions(options)), options)
  }

  private constructor(client: MqttClient, options: LinkOptions) {
    this.#client = client
    let reason = new Error('the connection was closed')
    client.on('error', error => {
      reason = error
    })
    client.on('packetreceive', packet => receive(packet, options, !client.connected))
    this.closed = new Promise(resolve => client.once('close', () => resolve(reason)))
    this.opened = new Promise((resolve, reject) => {
      client.once('connect', resolve)
      client.once('connect', () => sendWithoutDelay(client))
      this.closed.then(reject)
    })
    this.opened.catch(() => {})
  }

  get isOpen(): boolean {
    return this.#client.connected
  }

  /** Asks for everything that is said. At QoS 2 each message comes with the QoS that its sender chose. */
  async subscribe(): Promise<void> {
    try {
      await this.#client.subscribeAsync(FILTERS, { qos: 2 })
    } catch (error) {
      if (!this.isOpen) throw await this.closed
      throw new Error(`it does not allow to subscribe to ${FILTERS.join(' and ')}`, { cause: error })
    }
  }

  publish({ topic, payload }: OutgoingMessage, acknowledged: () => void): void {
    this.#client.publish(topic, payload, { qos: 1 }, error => {
      if (!error) acknowledged()
    })
  }

  /** Ends the connection, in good manners as far as the broker has them too. */
  async close({ clock, unsubscribe = false }: { clock: Clock; unsubscribe?: boolean }): Promise<void> {
    const timer = clock.setTimer(() => this.#client.stream.destroy(), FAREWELL_MS)
    if (unsubscribe && this.#client.connected) await this.#client.unsubscribeAsync(FILTERS).catch(() => {})
    this.#client.end(!this.#client.connected)
    await this.closed
    timer.cancel()
  }
}

/**
 * A message is taken when it arrives, before mqtt.js acknowledges it. The protocol allows that at QoS 2 too, and one must
 * not wait for its release there: aedes 1.2 releases some messages twice and others never.
 */
function receive(packet: Packet, { onMessage, onReleased }: LinkOptions, isLate: boolean): void {
  if (packet.cmd === 'publish') onMessage({ ...deliveryOf(packet), isLate })
  else if (packet.cmd === 'pubrel' && packet.messageId !== undefined) onReleased(packet.messageId)
}

function deliveryOf({ topic, payload, qos, messageId, dup, retain }: IPublishPacket): Delivery {
  const bytes = typeof payload === 'string' ? Buffer.from(payload) : payload
  return { topic, payload: bytes, qos, messageId, dup, retain }
}

/** Keeps nothing: messages have been taken before mqtt.js would store them until their release. */
const NO_STORE: IStore = {
  put(_packet, done) {
    done()
    return NO_STORE
  },
  get(_packet, done) {
    done(new Error('nothing is stored'))
    return NO_STORE
  },
  del(_packet, done) {
    done()
    return NO_STORE
  },
  createStream() {
    throw new Error('nothing is stored')
  },
  close: done => done(),
}

function clientOptions({ address, clean }: LinkOptions): IClientOptions {
  return {
    ...address,
    clean,
    incomingStore: NO_STORE,
    protocolVersion: 4,
    reconnectPeriod: 0,
    resubscribe: false,
    connectTimeout: CONNECT_TIMEOUT_MS,
    keepalive: KEEPALIVE_S,
    timerVariant: 'native',
    log: () => {},
  }
}

/** Small packets go out at once, and do not wait for the acknowledgement of the one before. */
function sendWithoutDelay({ stream }: MqttClient): void {
  if (stream instanceof Socket) stream.setNoDelay(true)
}

/** The library's own debug output shows packets, and with them the password: `DEBUG=*` leaves it out. */
function hushPackets(): void {
  if (process.env.DEBUG && !process.env.DEBUG.includes('-mqtt*')) process.env.DEBUG += ',-mqtt*'
}
