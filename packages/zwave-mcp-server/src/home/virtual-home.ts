import type { IClientPublishOptions, MqttClient } from 'mqtt'
import { type Logger, SILENT } from '../log.ts'
import { brokerAddress } from '../mqtt/broker-address.ts'
import { sendWithoutDelay } from '../mqtt/no-delay.ts'
import type { NodeStatus } from '../zwave/device.ts'
import type { Primitive } from '../zwave/payload.ts'
import { apiTopic, gatewayTopic, sanitizeTopic } from '../zwave/topics.ts'
import { DEFAULT_DEVICES } from './default-devices.ts'
import { nextDrift } from './drift.ts'
import { parseCommand } from './parse-command.ts'
import { type DeviceDescription, toNode, VirtualDevice, type VirtualValue } from './virtual-device.ts'

export interface VirtualHomeOptions {
  readonly brokerUrl: string
  /** The topic prefix; `zwave` if left out. */
  readonly prefix?: string
  /** The gateway's name in its MQTT settings. */
  readonly gatewayName?: string
  readonly devices?: readonly DeviceDescription[]
  /** How long a device takes to act on a command. */
  readonly delayMs?: number
  /** False: the gateway publishes nothing as retained, as some are set up. */
  readonly retain?: boolean
  readonly logger?: Logger
}

/** A command that reached a device. */
export interface ReceivedCommand {
  readonly device: string
  readonly endpoint: number
  readonly value: Primitive
  readonly at: number
}

const CONTROLLER = {
  id: 1,
  name: '',
  loc: '',
  status: 'Alive',
  available: true,
  ready: true,
  isControllerNode: true,
  values: {},
}
const GATEWAY_VERSION = '11.0.0'
const DEFAULT_DELAY_MS = 10
const RECONNECT_MS = 250

/**
 * Plays Z-Wave JS UI 11 and the devices behind it: same topics, payloads and API.
 * Like the real one it does not publish all values again when it reconnects; `getNodes` tells them.
 */
export class VirtualHome {
  /** Every command that reached a device, in order: what a test counts. */
  readonly commands: ReceivedCommand[] = []
  readonly devices: readonly VirtualDevice[]
  readonly #options: VirtualHomeOptions
  readonly #prefix: string
  readonly #gateway: string
  readonly #logger: Logger
  readonly #timers = new Set<NodeJS.Timeout>()
  readonly #targets = new Map<string, { device: VirtualDevice; value: VirtualValue }>()
  #client: MqttClient | undefined

  constructor(options: VirtualHomeOptions) {
    this.#options = options
    this.#prefix = options.prefix ?? 'zwave'
    this.#gateway = sanitizeTopic(`ZWAVE_GATEWAY-${options.gatewayName ?? 'virtual-home'}`)
    this.#logger = options.logger ?? SILENT
    const now = Date.now()
    this.devices = (options.devices ?? DEFAULT_DEVICES).map(
      (device, index) => new VirtualDevice(device, index + 2, now),
    )
    for (const device of this.devices) this.#indexTargets(device)
  }

  /** Connects and publishes everything; resolves when the broker has it. */
  async start(): Promise<void> {
    const { connectAsync } = await import('mqtt')
    const client = await connectAsync({
      ...brokerAddress(this.#options.brokerUrl),
      clientId: `${this.#gateway}-${process.pid}`,
      reconnectPeriod: RECONNECT_MS,
      resubscribe: false,
      queueQoSZero: false,
      timerVariant: 'native',
      log: () => {},
      will: {
        topic: this.#topic('status'),
        payload: Buffer.from('{"value":false}'),
        qos: 1,
        retain: this.#retain,
      },
    })
    this.#client = client
    client.on('message', (topic, payload) => this.#onMessage(topic, payload.toString()))
    client.on('error', error => this.#logger.debug({ error }, 'virtual home: MQTT error'))
    client.on(
      'connect',
      () => void this.#announce(client).catch(error => this.#logger.warn({ error }, 'virtual home')),
    )
    await this.#announce(client)
    for (const device of this.devices) await this.#publishDevice(device)
    // Packets are taken in order: once this one is acknowledged, the broker has all that went before.
    await this.#publish('driver/status', true, { qos: 1 })
    for (const device of this.devices) this.#startDrift(device)
  }

  /** Says goodbye as the gateway does, and leaves. */
  async stop(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer)
    if (this.#client?.connected) {
      await this.#publish('driver/status', false)
      await this.#publish(`_CLIENTS/${this.#gateway}/status`, { value: false, time: Date.now() })
    }
    await this.#client?.endAsync(!this.#client.connected)
  }

  /** Vanishes without a word: the broker publishes the last will. */
  crash(): void {
    for (const timer of this.#timers) clearTimeout(timer)
    this.#client?.end(true)
    this.#client?.stream.destroy()
  }

  /** Changes a value as if somebody were at the device; resolves when the broker has it. */
  async set(name: string, value: Primitive, { property }: { property?: string } = {}): Promise<void> {
    const device = this.#device(name)
    const isMeant = (item: VirtualValue) => (property ? item.property === property : !item.writeable)
    const target = device.values.find(isMeant)
    if (!target) throw new Error(`${name} has no such value`)
    const changed = /Value$/.test(target.property) ? device.act(target, value, Date.now()) : [target]
    Object.assign(target, { value, lastUpdate: Date.now() })
    await this.#report(device, changed, { qos: 1 })
  }

  /** Lets a device die, fall asleep or come back; resolves when the broker has it. */
  async setStatus(name: string, status: NodeStatus): Promise<void> {
    const device = this.#device(name)
    device.status = status
    await this.#publishStatus(device, { qos: 1 })
  }

  /** Publishes anything below the prefix, as it is. */
  async publishRaw(topic: string, payload: string, { retain = false } = {}): Promise<void> {
    await this.#client?.publishAsync(`${this.#prefix}/${topic}`, payload, { qos: 1, retain })
  }

  get #retain(): boolean {
    return this.#options.retain ?? true
  }

  #topic(about: 'status' | 'version'): string {
    return gatewayTopic(this.#prefix, this.#gateway, about)
  }

  #device(name: string): VirtualDevice {
    const device = this.devices.find(item => item.name === name)
    if (!device) throw new Error(`The virtual home has no device called ${name}`)
    return device
  }

  #indexTargets(device: VirtualDevice): void {
    for (const target of device.values.filter(value => value.writeable)) {
      const current = { ...target, property: 'currentValue' }
      for (const value of [target, current]) {
        this.#targets.set(`${this.#prefix}/${device.topicOf(value)}/set`, { device, value: target })
      }
    }
  }

  /** On every connect: listens for commands, then says that the gateway is there. */
  async #announce(client: MqttClient): Promise<void> {
    sendWithoutDelay(client)
    const topics = [...this.#targets.keys(), `${this.#prefix}/_CLIENTS/${this.#gateway}/api/#`]
    await client.subscribeAsync(topics, { qos: 1 })
    await this.#publish(`_CLIENTS/${this.#gateway}/version`, { value: GATEWAY_VERSION, time: Date.now() })
    await this.#publish(`_CLIENTS/${this.#gateway}/status`, { value: true, time: Date.now() })
  }

  #onMessage(topic: string, text: string): void {
    const target = this.#targets.get(topic)
    if (target) this.#onCommand(target.device, target.value, text)
    else if (topic === `${apiTopic(this.#prefix, this.#gateway, 'getNodes')}/set`) void this.#listNodes(text)
  }

  #onCommand(device: VirtualDevice, target: VirtualValue, text: string): void {
    const value = parseCommand(text, target.type)
    if (value === undefined) return
    this.commands.push({ device: device.name, endpoint: target.endpoint, value, at: Date.now() })
    this.#logger.debug({ device: device.name, value }, 'virtual home: command')
    if (!device.responds) return
    const delayMs = device.delayMs ?? this.#options.delayMs ?? DEFAULT_DELAY_MS
    const act = () => void this.#report(device, device.act(target, value, Date.now()))
    if (delayMs === 0) act()
    else this.#after(delayMs, act)
  }

  async #listNodes(text: string): Promise<void> {
    const result = [CONTROLLER, ...this.devices.map(toNode)]
    const answer = { success: true, message: 'Success zwave api call', result, origin: JSON.parse(text) }
    await this.#publish(`_CLIENTS/${this.#gateway}/api/getNodes`, answer, { retain: false })
  }

  async #publishDevice(device: VirtualDevice): Promise<void> {
    await this.#publishStatus(device)
    await this.#report(device, device.values)
  }

  async #publishStatus(device: VirtualDevice, options?: IClientPublishOptions): Promise<void> {
    const { status, nodeId, path } = device
    await this.#publish(
      `${path}/status`,
      { time: Date.now(), value: status !== 'Dead', status, nodeId },
      options,
    )
  }

  async #report(
    device: VirtualDevice,
    values: readonly VirtualValue[],
    options?: IClientPublishOptions,
  ): Promise<void> {
    // What was wanted is reported before what is, as Z-Wave JS does it.
    const ordered = [...values].sort((a, b) => Number(b.writeable) - Number(a.writeable))
    const reports = ordered.map(({ lastUpdate: time, ...value }) =>
      this.#publish(device.topicOf(value), { time, value: value.value }, options),
    )
    const time = Date.now()
    await Promise.all([
      ...reports,
      this.#publish(`${device.path}/lastActive`, { time, value: time }, options),
    ])
  }

  async #publish(topic: string, payload: unknown, options: IClientPublishOptions = {}): Promise<void> {
    if (!this.#client?.connected) return
    await this.#client.publishAsync(`${this.#prefix}/${topic}`, JSON.stringify(payload), {
      qos: 0,
      retain: this.#retain,
      ...options,
    })
  }

  #startDrift(device: VirtualDevice): void {
    for (const value of device.values) if (value.drift) this.#drift(device, value, 1)
  }

  #drift(device: VirtualDevice, value: VirtualValue, direction: 1 | -1): void {
    const { drift } = value
    if (!drift) return
    this.#after(drift.everyMs, () => {
      const next = nextDrift(Number(value.value ?? drift.min), direction, drift)
      Object.assign(value, { value: next.value, lastUpdate: Date.now() })
      if (device.status !== 'Dead') void this.#report(device, [value])
      this.#drift(device, value, next.direction)
    })
  }

  #after(ms: number, action: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      action()
    }, ms)
    this.#timers.add(timer)
  }
}
