import type { Logger } from '../log.ts'
import type { BrokerLink, LinkState, Message } from '../mqtt/broker-link.ts'
import { Arrival } from './arrival.ts'
import type { Actuator, Device } from './device.ts'
import { DeviceRegistry } from './device-registry.ts'
import { GatewayState } from './gateway-state.ts'
import { parseNodes } from './nodes.ts'
import { type Payload, type Primitive, parseJson, parsePayload } from './payload.ts'
import { type ReportOutcome, Reports, type ReportWait } from './reports.ts'
import { apiTopic, parseTopic, type Topic, valuePath } from './topics.ts'

export interface NetworkOptions {
  readonly link: BrokerLink
  readonly prefix: string
  readonly gatewayName?: string
  readonly logger: Logger
  readonly now?: () => number
}

/** Whether the tools can answer; if not, why. */
export type Readiness = { readonly ready: true } | { readonly ready: false; readonly cause: string }

export interface Command extends ReportWait {
  readonly device: Device
  readonly actuator: Actuator
  readonly value: Primitive
}

export type CommandOutcome = ReportOutcome | { readonly kind: 'not sent'; readonly cause: string }

const GATEWAY_PREFIX = 'ZWAVE_GATEWAY-'
const FIRST_CONNECT_MS = 3_000
const PROBE_MS = 1_000
const QUIET_MS = 60
const ARRIVAL_MAX_MS = 1_500
const RELIST_MS = 10_000

/**
 * The Z-Wave home behind the broker: follows what it publishes and sends commands to it.
 * A command goes out once, now, or not at all.
 */
export class ZwaveNetwork {
  readonly gateway: GatewayState
  readonly #options: NetworkOptions
  readonly #registry = new DeviceRegistry()
  readonly #reports = new Reports()
  readonly #arrival: Arrival
  readonly #now: () => number
  #started = false
  #lastMessageAt: number | null = null
  #listAskedAt: number | undefined
  #listAwaited = false
  #whenFirstState: Promise<void>
  #onFirstState: () => void = () => {}

  constructor(options: NetworkOptions) {
    this.#options = options
    this.#now = options.now ?? Date.now
    this.gateway = new GatewayState(options.gatewayName && GATEWAY_PREFIX + options.gatewayName)
    this.#arrival = new Arrival({
      quietMs: QUIET_MS,
      maxMs: ARRIVAL_MAX_MS,
      expectsMore: () => this.#listAwaited,
    })
    this.#whenFirstState = new Promise(resolve => {
      this.#onFirstState = resolve
    })
  }

  /** Connects; a second time it does nothing. Whoever asks for readiness starts it too. */
  start(): void {
    if (this.#started) return
    this.#started = true
    this.#options.link.start({
      onState: state => this.#onState(state),
      onMessage: message => this.#onMessage(message),
    })
  }

  async close(): Promise<void> {
    this.#arrival.complete()
    this.#reports.lose()
    await this.#options.link.close()
  }

  /** Where the broker is, without user and password. */
  get brokerUrl(): string {
    return this.#options.link.url
  }

  /** When the last message came in, in ms since 1970. */
  get lastMessageAt(): number | null {
    return this.#lastMessageAt
  }

  devices(): Device[] {
    return this.#registry.devices()
  }

  /** Waits until the state of the home is in; when the broker is gone, says so at once. */
  async ready(): Promise<Readiness> {
    this.start()
    if (this.#options.link.state.status === 'connecting') await atMost(this.#whenFirstState, FIRST_CONNECT_MS)
    await this.#arrival.whenComplete
    const { state } = this.#options.link
    if (state.status === 'connected') return { ready: true }
    return { ready: false, cause: state.status === 'offline' ? state.cause : 'it has not answered yet' }
  }

  /** Whether the broker answers now. */
  brokerAnswers(): Promise<boolean> {
    return this.#options.link.answers(PROBE_MS)
  }

  /** Sends a command and waits for the device's own report. */
  async send({ device, actuator, value, ...wait }: Command): Promise<CommandOutcome> {
    // Asked first, because a broker that hangs would take the command and pass it on much later.
    if (!(await this.brokerAnswers())) return { kind: 'not sent', cause: 'the MQTT broker does not answer' }
    if (wait.signal?.aborted) return { kind: 'not sent', cause: 'the call was cancelled' }
    const { prefix, link, logger } = this.#options
    const path = valuePath(device.path, { ...actuator.state, property: 'targetValue' })
    if (!link.publish(`${prefix}/${path}/set`, JSON.stringify(value))) {
      return { kind: 'not sent', cause: 'the connection to the MQTT broker is gone' }
    }
    logger.debug({ device: device.name, topic: path, value }, 'command sent')
    return this.#reports.wait(valuePath(device.path, actuator.state), wait)
  }

  #onState(state: LinkState): void {
    this.#onFirstState()
    if (state.status === 'connected') {
      this.#listAskedAt = undefined
      this.#arrival.begin()
      for (const client of this.gateway.reachable) this.#askForNodes(client)
    } else {
      this.#listAwaited = false
      this.#arrival.complete()
      this.#reports.lose()
    }
  }

  #onMessage(message: Message): void {
    this.#options.logger.trace({ topic: message.topic, payload: message.text }, 'message')
    this.#lastMessageAt = this.#now()
    this.#arrival.heard()
    const topic = parseTopic(this.#options.prefix, message.topic)
    if (topic.kind === 'driver') this.gateway.applyDriver(message.text)
    else if (topic.kind === 'gateway') this.#onGateway(topic, message)
    else if (topic.kind === 'api') this.#onApi(topic, message)
    else if (topic.kind === 'value' || topic.kind === 'status') this.#onNode(topic, message)
  }

  #onGateway({ client, about }: Topic & { kind: 'gateway' }, { text }: Message): void {
    this.gateway.apply(client, about, text)
    if (about === 'status' && this.gateway.reachable.includes(client)) this.#askForNodes(client)
  }

  #askForNodes(client: string): void {
    const { prefix, link, logger } = this.#options
    if (!link.publish(`${apiTopic(prefix, client, 'getNodes')}/set`, '{"args":[]}')) return
    this.#listAskedAt = this.#now()
    this.#listAwaited = true
    logger.debug({ gateway: client }, 'asked the gateway for its nodes')
  }

  #onApi({ client, method }: Topic & { kind: 'api' }, { text, topic }: Message): void {
    if (method !== 'getNodes') return
    const nodes = parseNodes(parseJson(text))
    if (!nodes) {
      this.#ignore(topic, text, 'it is no list of nodes')
      return
    }
    this.#registry.applyNodes(nodes, { complete: this.gateway.reachable.every(other => other === client) })
    this.#listAwaited = false
    this.#arrival.complete()
    this.#options.logger.debug({ gateway: client, nodes: nodes.length }, 'the gateway listed its nodes')
  }

  #onNode(topic: Topic & { kind: 'value' | 'status' }, message: Message): void {
    if (message.text === '') {
      if (topic.kind === 'value') this.#registry.removeValue(topic.node, topic.address)
      return
    }
    const parsed = parsePayload(message.text)
    if (!parsed.ok) this.#ignore(message.topic, message.text, parsed.reason)
    else if (!this.#apply(topic, parsed.payload, message.retained)) this.#onUnknown(message)
  }

  /** Takes a value or status in. False: the gateway lists no such device. */
  #apply(topic: Topic & { kind: 'value' | 'status' }, payload: Payload, retained: boolean): boolean {
    if (topic.kind === 'status') return this.#registry.applyStatus(topic.node, payload)
    return this.#onValue(topic, payload, retained)
  }

  #onValue({ node, address }: Topic & { kind: 'value' }, payload: Payload, retained: boolean): boolean {
    // A live message without a time is from now; of a retained one nobody knows.
    const timed = retained || payload.time !== undefined ? payload : { ...payload, time: this.#now() }
    if (!this.#registry.applyValue({ node, address, payload: timed, retained })) return false
    if (!retained && payload.value !== undefined) this.#reports.hear(valuePath(node, address), payload.value)
    return true
  }

  /** A device that the gateway did not list: a leftover, or one that has just joined. So the list is asked for again. */
  #onUnknown({ topic, text }: Message): void {
    this.#ignore(topic, text, 'the gateway lists no such device')
    if (this.#now() - (this.#listAskedAt ?? 0) < RELIST_MS) return
    for (const client of this.gateway.reachable) this.#askForNodes(client)
  }

  #ignore(topic: string, payload: string, reason: string): void {
    this.#options.logger.warn({ topic, payload, reason }, 'ignored a message')
  }
}

async function atMost(promise: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<void>(resolve => {
    timer = setTimeout(resolve, ms)
  })
  await Promise.race([promise, timeout])
  clearTimeout(timer)
}
