import type { IClientPublishOptions, MqttClient } from 'mqtt'
import { type Logger, SILENT } from '../log.ts'
import { brokerAddress } from '../mqtt/broker-address.ts'
import { sendWithoutDelay } from '../mqtt/mqtt-client.ts'
import type { NodeStatus } from '../zwave/device.ts'
import { isRecord, type Primitive, parseJson } from '../zwave/payload.ts'
import { gatewayTopic, parseTopic, sanitizeTopic } from '../zwave/topics.ts'
import { DEFAULT_DEVICES, DEFAULT_SCENES } from './default-devices.ts'
import { drift } from './drift.ts'
import {
  type GatewayMessage,
  type GatewaySettings,
  reportMessages,
  statusMessage,
  topicStyle,
} from './gateway-messages.ts'
import { parseCommand } from './parse-command.ts'
import { Timers } from './timers.ts'
import { answerApi, type SceneDescription } from './virtual-api.ts'
import { type DeviceDescription, VirtualDevice, type VirtualValue } from './virtual-device.ts'

export interface VirtualHomeOptions extends GatewaySettings {
  readonly brokerUrl: string
  /** The topic prefix; default: `zwave`. */
  readonly prefix?: string | undefined
  /** The gateway's name in its MQTT settings. */
  readonly gatewayName?: string | undefined
  readonly devices?: readonly DeviceDescription[] | undefined
  readonly scenes?: readonly SceneDescription[] | undefined
  /** How long a device takes to act on a command. */
  readonly delayMs?: number | undefined
  /** False: the gateway retains nothing, as some are configured. */
  readonly retain?: boolean | undefined
  readonly logger?: Logger | undefined
}

/** A command that reached a device. */
export interface ReceivedCommand {
  readonly device: string
  readonly endpoint: number
  readonly value: Primitive
  readonly at: number
}

const GATEWAY_VERSION = '11.0.0'
const DEFAULT_DELAY_MS = 10
const RECONNECT_MS = 250

/**
 * Simulates Z-Wave JS UI 11 and the devices behind it: same topics, payloads and API.
 * Like the real one, it does not republish all values when it reconnects; `getNodes` returns them.
 */
export class VirtualHome {
  /** Every command that reached a device, in order, for tests to count. */
  readonly commands: ReceivedCommand[] = []
  readonly devices: readonly VirtualDevice[]
  readonly scenes: readonly SceneDescription[]
  isDriverReady = true
  readonly #options: VirtualHomeOptions
  readonly #prefix: string
  readonly #gateway: string
  readonly #logger: Logger
  readonly #timers = new Timers()
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
    this.scenes = options.scenes ?? (options.devices ? [] : DEFAULT_SCENES)
  }

  /** Connects and publishes everything; resolves once the broker has it. */
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
        topic: gatewayTopic(this.#prefix, this.#gateway, 'status'),
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
      () => void this.#announce(client).catch(error => this.#logger.warn({ error }, 'home: announce failed')),
    )
    await this.#announce(client)
    for (const device of this.devices) {
      await this.#publish([statusMessage(device, this.#options)])
      await this.#report(device, device.values)
    }
    // Packets are processed in order: once this one is acknowledged, the broker has everything before it.
    await this.setDriver(true)
    for (const device of this.devices)
      drift(device, this.#timers, value => void this.#report(device, [value]))
  }

  /** Goes offline the way the gateway does, then disconnects. */
  async stop(): Promise<void> {
    this.#timers.clear()
    if (this.#client?.connected) {
      await this.setDriver(false)
      await this.#tell('status', false)
    }
    await this.#client?.endAsync(!this.#client.connected)
  }

  /** Drops the connection without going offline first: the broker publishes the last will. */
  crash(): void {
    this.#timers.clear()
    this.#client?.end(true)
    this.#client?.stream.destroy()
  }

  /** Unplugs the Z-Wave stick, or plugs it back in; resolves once the broker has it. */
  async setDriver(isReady: boolean): Promise<void> {
    this.isDriverReady = isReady
    await this.#publish([{ topic: 'driver/status', payload: isReady }], { qos: 1 })
  }

  /** Changes a value as if operated at the device itself; resolves once the broker has it. */
  async set(name: string, value: Primitive, { property }: { property?: string } = {}): Promise<void> {
    const device = this.#device(name)
    const isMeant = (item: VirtualValue) => (property ? item.property === property : !item.writeable)
    const target = device.values.find(isMeant)
    if (!target) throw new Error(`${name} has no such value`)
    const changed = device.act(target, value, Date.now())
    Object.assign(target, { value, lastUpdate: Date.now() })
    await this.#report(device, changed, { qos: 1 })
  }

  /** Makes a device die, fall asleep or come back; resolves once the broker has it. */
  async setStatus(name: string, status: NodeStatus): Promise<void> {
    await this.#change(name, { status })
  }

  /** Renames a device, which changes its topics; retained messages stay behind. Resolves once the broker has it. */
  async rename(name: string, newName: string): Promise<void> {
    await this.#change(name, { name: newName })
  }

  /** Publishes a payload verbatim below the prefix. */
  async publishRaw(topic: string, payload: string, { retain = false } = {}): Promise<void> {
    await this.#client?.publishAsync(`${this.#prefix}/${topic}`, payload, { qos: 1, retain })
  }

  /** Delivers a command to a device, which acts on it if it can. */
  command(device: VirtualDevice, target: VirtualValue, value: Primitive): void {
    this.commands.push({ device: device.name, endpoint: target.endpoint, value, at: Date.now() })
    this.#logger.debug({ device: device.name, value }, 'virtual home: command')
    if (!device.responds) return
    const delayMs = device.delayMs ?? this.#options.delayMs ?? DEFAULT_DELAY_MS
    const act = () => void this.#report(device, device.act(target, value, Date.now()))
    this.#timers.after(delayMs, act)
  }

  get #retain(): boolean {
    return this.#options.retain ?? true
  }

  async #change(name: string, change: { name?: string; status?: NodeStatus }): Promise<void> {
    const device = Object.assign(this.#device(name), change)
    await this.#publish([statusMessage(device, this.#options)], { qos: 1 })
  }

  #device(name: string): VirtualDevice {
    const device = this.devices.find(item => item.name === name)
    if (!device) throw new Error(`The virtual home has no device called ${name}`)
    return device
  }

  /** On every connect: subscribes to commands, then announces the gateway. */
  async #announce(client: MqttClient): Promise<void> {
    sendWithoutDelay(client)
    await client.subscribeAsync([`${this.#prefix}/#`], { qos: 1 })
    await this.#tell('version', GATEWAY_VERSION)
    await this.#tell('status', true)
  }

  #onMessage(topic: string, text: string): void {
    if (!topic.endsWith('/set')) return
    const path = topic.slice(0, -'/set'.length)
    const parsed = parseTopic(this.#prefix, path)
    if (parsed.kind !== 'api') this.#onCommand(path.slice(this.#prefix.length + 1), text)
    else if (parsed.client === this.#gateway) void this.#onCall(parsed.method, text)
  }

  /** A command may address the target value or the current one: both set the target. */
  #onCommand(path: string, text: string): void {
    if (this.#options.topics === 'manual') return
    const target = path.replace(/\/current(Value|Mode)$/, '/target$1')
    const style = topicStyle(this.#options)
    for (const device of this.devices)
      for (const value of device.values) {
        if (!value.writeable || device.topicOf(value, style) !== target) continue
        const wanted = parseCommand(text, value.type)
        if (wanted !== undefined) this.command(device, value, wanted)
      }
  }

  async #onCall(method: string, text: string): Promise<void> {
    const origin = parseJson(text)
    const args = isRecord(origin) && Array.isArray(origin.args) ? origin.args : []
    const answer = { ...answerApi(this, method, args), origin }
    const topic = `_CLIENTS/${this.#gateway}/api/${method}`
    await this.#publish([{ topic, payload: answer }], { retain: false })
  }

  /** Publishes the gateway's own status or version, retained. */
  async #tell(about: 'status' | 'version', value: unknown): Promise<void> {
    await this.#publish([
      { topic: `_CLIENTS/${this.#gateway}/${about}`, payload: { value, time: Date.now() } },
    ])
  }

  async #report(
    device: VirtualDevice,
    values: readonly VirtualValue[],
    options?: IClientPublishOptions,
  ): Promise<void> {
    await this.#publish(reportMessages(device, values, this.#options), options)
  }

  async #publish(messages: readonly GatewayMessage[], options?: IClientPublishOptions): Promise<void> {
    const client = this.#client
    if (!client?.connected) return
    const settings = { qos: 0, retain: this.#retain, ...options } as const
    const publish = ({ topic, payload }: GatewayMessage) =>
      client.publishAsync(`${this.#prefix}/${topic}`, JSON.stringify(payload) ?? '', settings)
    await Promise.all(messages.map(publish))
  }
}
