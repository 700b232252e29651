import { randomUUID } from 'node:crypto'
import { Socket } from 'node:net'
import type { IClientOptions, MqttClient, Packet } from 'mqtt'
import { brokerAddress, withoutCredentials } from './config.ts'
import type { Logger } from './log.ts'

export interface Message {
  readonly topic: string
  readonly text: string
  /** An old message, sent because we subscribed, not because something happened. */
  readonly retained: boolean
}

export type LinkListener = { onChange(): void; onMessage(message: Message): void }

export interface BrokerOptions {
  /** The URL, or a function that resolves to it: an embedded broker has one only once it has started. */
  readonly url: string | (() => Promise<string>)
  readonly username?: string | undefined
  readonly password?: string | undefined
  /** The topic filter to subscribe to. */
  readonly filter: string
  readonly logger: Logger
}

/** Queues nothing; reconnects after a second, and by itself. */
const OPTIONS: IClientOptions = {
  keepalive: 15,
  connectTimeout: 5_000,
  reconnectPeriod: 1_000,
  reconnectOnConnackError: true,
  resubscribe: false,
  queueQoSZero: false,
  timerVariant: 'native',
  log: () => {},
}
const UNSUBSCRIBABLE = 128
/** The problem of a connection that is being made for the first time. */
export const CONNECTING = 'it has not answered yet'

/**
 * The connection to a broker, through mqtt.js. It reconnects by itself and resubscribes each time.
 * Messages go out at QoS 0 and are never queued: at QoS 1 mqtt.js would resend them after a reconnect.
 */
export class BrokerConnection {
  /** The broker's URL, without user and password. */
  url = 'an embedded broker'
  /** Why the broker cannot be used; undefined while we are connected and subscribed. */
  problem: string | undefined = CONNECTING
  readonly #options: BrokerOptions
  #client: MqttClient | undefined
  #onChange = () => {}
  #lastError: string | undefined
  #closed = false

  constructor(options: BrokerOptions) {
    this.#options = options
    if (typeof options.url === 'string') this.url = withoutCredentials(options.url)
  }

  start({ onChange, onMessage }: LinkListener): void {
    this.#onChange = onChange
    this.#connect(onMessage).catch((error: unknown) => this.#setProblem(explain(error)))
  }

  /** Sends a message now. False: not connected, and the message was dropped. */
  publish(topic: string, text: string): boolean {
    const client = this.#usableClient
    client?.publish(topic, text, { qos: 0, retain: false })
    return client !== undefined
  }

  /** Whether the broker answers within this time: a connection can look alive while the broker hangs. */
  async answers(timeoutMs: number): Promise<boolean> {
    const client = this.#usableClient
    if (!client) return false
    return new Promise(resolve => {
      const finish = (answered: boolean) => {
        clearTimeout(timer)
        client.off('packetreceive', onPacket).off('close', onClose)
        resolve(answered)
      }
      const onPacket = (packet: Packet) => packet.cmd === 'pingresp' && finish(true)
      const onClose = () => finish(false)
      const timer = setTimeout(finish, timeoutMs, false)
      client.on('packetreceive', onPacket).on('close', onClose).sendPing()
    })
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#client?.endAsync(true)
  }

  get #usableClient(): MqttClient | undefined {
    return this.problem === undefined && this.#client?.connected ? this.#client : undefined
  }

  async #connect(onMessage: LinkListener['onMessage']): Promise<void> {
    const { url: source, username, password, filter } = this.#options
    const url = typeof source === 'string' ? source : await source()
    this.url = withoutCredentials(url)
    const client = await connectMqtt(url, {
      clientId: `zwave-mcp-server-${randomUUID().slice(0, 8)}`,
      ...(username !== undefined && { username }),
      ...(password !== undefined && { password }),
    })
    this.#client = client
    if (this.#closed) return void client.end(true)
    client.on('connect', () => {
      this.#lastError = undefined
      client.subscribe(filter, { qos: 0 }, (error, granted) => {
        if (!client.connected) return
        if (error || granted?.some(({ qos }) => qos === UNSUBSCRIBABLE))
          this.#setProblem(`it refused the subscription to ${filter}`)
        else this.#setProblem(undefined)
      })
    })
    client.on('message', (topic, payload, { retain }) =>
      onMessage({ topic, text: payload.toString(), retained: retain }),
    )
    client.on('error', error => {
      this.#lastError = explain(error)
    })
    client.on('close', () => this.#setProblem(this.#lastError ?? 'the connection was closed'))
  }

  #setProblem(cause: string | undefined): void {
    if (this.#closed || cause === this.problem) return
    this.problem = cause
    const { logger } = this.#options
    if (cause) logger.warn({ broker: this.url, cause }, 'the MQTT broker is unreachable')
    else logger.info({ broker: this.url }, 'connected to the MQTT broker')
    this.#onChange()
  }
}

/** A link to the broker that never queues: a message goes out now, once, or not at all. */
export type BrokerLink = Pick<BrokerConnection, 'url' | 'problem' | 'start' | 'publish' | 'answers' | 'close'>

/** A client that queues nothing and sends without delay: Nagle's algorithm can hold a command back by 40 ms. */
export async function connectMqtt(url: string, options: IClientOptions): Promise<MqttClient> {
  // Keeps `DEBUG=*` from printing mqtt.js's packets, which include the password.
  if (process.env.DEBUG && !process.env.DEBUG.includes('-mqtt*')) process.env.DEBUG += ',-mqtt*'
  const { connect } = await import('mqtt')
  const client = connect({ ...brokerAddress(url), ...OPTIONS, ...options })
  return client.on('connect', () => {
    if (client.stream instanceof Socket) client.stream.setNoDelay(true)
  })
}

/** The reason in an error: a refused connection to a host with several addresses has an empty message. */
function explain(error: unknown): string {
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return error.errors[0].message
  return error instanceof Error ? error.message || error.name : String(error)
}
