import { randomUUID } from 'node:crypto'
import type { IClientOptions, IPublishPacket, MqttClient, Packet } from 'mqtt'
import type { Logger } from '../log.ts'
import { brokerAddress, withoutCredentials } from './broker-address.ts'
import type { BrokerLink, LinkListener, LinkState } from './broker-link.ts'
import { hushPackets, sendWithoutDelay } from './mqtt-client.ts'

export interface BrokerOptions {
  /** The URL, or a function that resolves to it: an embedded broker has one only once it has started. */
  readonly url: string | (() => Promise<string>)
  readonly username?: string | undefined
  readonly password?: string | undefined
  /** The topic filter to subscribe to. */
  readonly filter: string
  readonly logger: Logger
}

const RECONNECT_MS = 1_000
const CONNECT_TIMEOUT_MS = 5_000
const KEEPALIVE_S = 15
const UNSUBSCRIBABLE = 128
/** A list of 232 nodes with all their values is about 15 MB. */
const MAX_MESSAGE_BYTES = 32 * 1024 * 1024

/**
 * The connection to a broker, through mqtt.js. It reconnects by itself and resubscribes each time.
 * Messages go out at QoS 0 and are never queued: at QoS 1 mqtt.js would resend them after a reconnect.
 */
export class BrokerConnection implements BrokerLink {
  url = 'an embedded broker'
  state: LinkState = { status: 'connecting' }
  readonly #options: BrokerOptions
  #client: MqttClient | undefined
  #listener: LinkListener | undefined
  #lastError: string | undefined
  #closed = false

  constructor(options: BrokerOptions) {
    this.#options = options
    if (typeof options.url === 'string') this.url = withoutCredentials(options.url)
  }

  start(listener: LinkListener): void {
    this.#listener = listener
    this.#connect().catch((error: unknown) => this.#goOffline(explain(error)))
  }

  publish(topic: string, text: string): boolean {
    const client = this.#client
    if (this.state.status !== 'connected' || !client?.connected) return false
    client.publish(topic, text, { qos: 0, retain: false })
    return true
  }

  answers(timeoutMs: number): Promise<boolean> {
    const client = this.#client
    if (this.state.status !== 'connected' || !client?.connected) return Promise.resolve(false)
    return new Promise(resolve => {
      const finish = (answered: boolean) => {
        clearTimeout(timer)
        client.off('packetreceive', onPacket)
        client.off('close', onClose)
        resolve(answered)
      }
      const onPacket = (packet: Packet) => packet.cmd === 'pingresp' && finish(true)
      const onClose = () => finish(false)
      const timer = setTimeout(finish, timeoutMs, false)
      client.on('packetreceive', onPacket)
      client.on('close', onClose)
      client.sendPing()
    })
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#client?.endAsync(true)
  }

  async #connect(): Promise<void> {
    hushPackets()
    const { url: source } = this.#options
    const [url, { connect }] = await Promise.all([
      typeof source === 'string' ? source : source(),
      import('mqtt'),
    ])
    if (this.#closed) return
    this.url = withoutCredentials(url)
    const client = connect({ ...brokerAddress(url), ...this.#clientOptions() })
    this.#client = client
    client.on('connect', () => {
      sendWithoutDelay(client)
      this.#subscribe(client)
    })
    client.on('message', (topic, payload, packet: IPublishPacket) => {
      if (payload.length > MAX_MESSAGE_BYTES)
        this.#options.logger.warn({ topic, bytes: payload.length }, 'ignored an oversized message')
      else this.#listener?.onMessage({ topic, text: payload.toString(), retained: packet.retain })
    })
    client.on('error', error => {
      this.#lastError = explain(error)
      this.#options.logger.debug({ broker: this.url, cause: this.#lastError }, 'MQTT error')
    })
    client.on('close', () => this.#goOffline(this.#lastError ?? 'the connection was closed'))
  }

  #clientOptions(): IClientOptions {
    const { username, password } = this.#options
    return {
      clientId: `zwave-mcp-server-${randomUUID().slice(0, 8)}`,
      clean: true,
      keepalive: KEEPALIVE_S,
      connectTimeout: CONNECT_TIMEOUT_MS,
      reconnectPeriod: RECONNECT_MS,
      reconnectOnConnackError: true,
      resubscribe: false,
      queueQoSZero: false,
      timerVariant: 'native',
      log: () => {},
      ...(username !== undefined && { username }),
      ...(password !== undefined && { password }),
    }
  }

  #subscribe(client: MqttClient): void {
    this.#lastError = undefined
    const { filter } = this.#options
    client.subscribe(filter, { qos: 0 }, (error, granted) => {
      if (!client.connected) return
      const refused = error || granted?.some(({ qos }) => qos === UNSUBSCRIBABLE)
      if (refused) this.#goOffline(`it refused the subscription to ${filter}`)
      else this.#setState({ status: 'connected' })
    })
  }

  #goOffline(cause: string): void {
    if (this.#closed || (this.state.status === 'offline' && this.state.cause === cause)) return
    this.#setState({ status: 'offline', cause })
  }

  #setState(state: LinkState): void {
    this.state = state
    if (state.status === 'connected')
      this.#options.logger.info({ broker: this.url }, 'connected to the MQTT broker')
    if (state.status === 'offline') {
      this.#options.logger.warn({ broker: this.url, cause: state.cause }, 'the MQTT broker is unreachable')
    }
    this.#listener?.onState(state)
  }
}

/** The reason in an error: a refused connection to a host with several addresses has an empty message. */
function explain(error: unknown): string {
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return error.errors[0].message
  if (error instanceof Error) return error.message || error.name
  return String(error)
}
