import type { IClientPublishOptions, MqttClient } from 'mqtt'
import { brokerAddress } from '../broker-address.ts'
import { CLIENT_OPTIONS, loadMqtt, sendWithoutDelay } from '../broker-connection.ts'
import { type Logger, SILENT } from '../log.ts'
import { isPrimitive, isRecord, type NodeStatus, type Primitive, parseJson } from '../zwave/messages.ts'
import { clientTopic, parseTopic, sanitizeTopic, type TopicStyle } from '../zwave/topics.ts'
import {
  DEFAULT_DEVICES,
  DEFAULT_SCENES,
  type DeviceDescription,
  type Drift,
  parseCommand,
  type SceneDescription,
  VirtualDevice,
  type VirtualValue,
  valueId,
} from './virtual-device.ts'

/** Gateway types: which topics values get. A manual gateway has only those configured by hand. */
export const GATEWAY_TYPES = ['named', 'valueid', 'manual'] as const
/** Payload types: `{time, value}`, the entire value object, or the value alone. */
export const PAYLOAD_TYPES = ['time-value', 'entire', 'raw'] as const

export interface VirtualHomeOptions {
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
  /** Default: `named`. */
  readonly topics?: (typeof GATEWAY_TYPES)[number] | undefined
  /** Default: `time-value`. */
  readonly payload?: (typeof PAYLOAD_TYPES)[number] | undefined
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
const CONTROLLER = {
  id: 1,
  status: 'Alive',
  available: true,
  ready: true,
  isControllerNode: true,
  values: {},
}
/** What Z-Wave JS returns for a command that it sent unsupervised. */
const SENT = { status: 254 }

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
  readonly #style: TopicStyle
  readonly #retain: boolean
  readonly #logger: Logger
  readonly #timers = new Set<NodeJS.Timeout>()
  #client: MqttClient | undefined

  constructor(options: VirtualHomeOptions) {
    this.#options = options
    this.#prefix = options.prefix ?? 'zwave'
    this.#gateway = sanitizeTopic(`ZWAVE_GATEWAY-${options.gatewayName ?? 'virtual-home'}`)
    this.#style = options.topics === 'valueid' ? 'valueid' : 'named'
    this.#retain = options.retain ?? true
    this.#logger = options.logger ?? SILENT
    this.devices = (options.devices ?? DEFAULT_DEVICES).map(
      (device, index) => new VirtualDevice(device, index + 2, Date.now()),
    )
    this.scenes = options.scenes ?? (options.devices ? [] : DEFAULT_SCENES)
  }

  /** Connects and publishes everything; resolves once the broker has it. */
  async start(): Promise<void> {
    const connect = await loadMqtt()
    const client = connect({
      ...brokerAddress(this.#options.brokerUrl),
      ...CLIENT_OPTIONS,
      clientId: `${this.#gateway}-${process.pid}`,
      reconnectPeriod: RECONNECT_MS,
      will: {
        topic: clientTopic(this.#prefix, this.#gateway, 'status'),
        payload: Buffer.from('{"value":false}'),
        qos: 1,
        retain: this.#retain,
      },
    })
    this.#client = client
    client.on('message', (topic, payload) => this.#onMessage(topic, payload.toString()))
    client.on('error', error => this.#logger.debug({ error }, 'virtual home: MQTT error'))
    await new Promise<void>((resolve, reject) => {
      client.once('error', reject)
      client.on('connect', () => this.#announce(client).then(resolve, reject))
    })
    for (const device of this.devices) {
      await this.#publishStatus(device)
      await this.#report(device, device.values)
      for (const value of device.values) if (value.drift) this.#drift(device, value, value.drift)
    }
    // Packets are processed in order: once this one is acknowledged, the broker has everything before it.
    await this.setDriver(true)
  }

  /** Goes offline the way the gateway does, then disconnects. */
  async stop(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer)
    if (this.#client?.connected) {
      await this.setDriver(false)
      await this.#publishAbout('status', false)
    }
    await this.#client?.endAsync(!this.#client.connected)
  }

  /** Drops the connection without going offline first: the broker publishes the last will. */
  crash(): void {
    for (const timer of this.#timers) clearTimeout(timer)
    this.#client?.end(true)
    this.#client?.stream.destroy()
  }

  /** Unplugs the Z-Wave stick, or plugs it back in; resolves once the broker has it. */
  async setDriver(isReady: boolean): Promise<void> {
    this.isDriverReady = isReady
    await this.#publish('driver/status', isReady, { qos: 1 })
  }

  /** Changes a value as if operated at the device itself; resolves once the broker has it. */
  async set(name: string, value: Primitive, { property }: { property?: string } = {}): Promise<void> {
    const device = this.#device(name)
    const target = device.values.find(item => (property ? item.property === property : !item.writeable))
    if (!target) throw new Error(`${name} has no such value`)
    const changed = device.act(target, value, Date.now())
    Object.assign(target, { value, lastUpdate: Date.now() })
    await this.#report(device, changed, { qos: 1 })
  }

  /** Makes a device die, fall asleep or come back; resolves once the broker has it. */
  async setStatus(name: string, status: NodeStatus): Promise<void> {
    await this.#publishStatus(Object.assign(this.#device(name), { status }))
  }

  /** Renames a device, which changes its topics; retained messages stay behind. Resolves once the broker has it. */
  async rename(name: string, newName: string): Promise<void> {
    await this.#publishStatus(Object.assign(this.#device(name), { name: newName }))
  }

  /** Publishes a payload verbatim below the prefix. */
  async publishRaw(topic: string, payload: string, { retain = false } = {}): Promise<void> {
    await this.#client?.publishAsync(`${this.#prefix}/${topic}`, payload, { qos: 1, retain })
  }

  /** Delivers a command to a device, which acts on it if it can. */
  command(device: VirtualDevice, target: VirtualValue, value: Primitive): void {
    this.commands.push({ device: device.name, endpoint: target.endpoint, value, at: Date.now() })
    this.#logger.debug({ device: device.name, value }, 'virtual home: command')
    const act = () => void this.#report(device, device.act(target, value, Date.now()))
    if (device.responds) this.#after(device.delayMs ?? this.#options.delayMs ?? DEFAULT_DELAY_MS, act)
  }

  #device(name: string): VirtualDevice {
    const device = this.devices.find(item => item.name === name)
    if (!device) throw new Error(`The virtual home has no device called ${name}`)
    return device
  }

  /** A delay of 0 runs the action synchronously. */
  #after(ms: number, action: () => void): void {
    if (ms === 0) return action()
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      action()
    }, ms)
    this.#timers.add(timer)
  }

  /** Moves a value one step at a time between its bounds, up first. A dead device does not report. */
  #drift(device: VirtualDevice, target: VirtualValue, { step, min, max, everyMs }: Drift, way = 1): void {
    this.#after(everyMs, () => {
      const now = Number(target.value ?? min)
      const direction = now + step * way > max || now + step * way < min ? -way : way
      const value = Math.round((now + direction * step) * 100) / 100
      Object.assign(target, { value, lastUpdate: Date.now() })
      if (device.status !== 'Dead') void this.#report(device, [target])
      this.#drift(device, target, { step, min, max, everyMs }, direction)
    })
  }

  /** On every connect: subscribes to commands, then announces the gateway. */
  async #announce(client: MqttClient): Promise<void> {
    sendWithoutDelay(client)
    await client.subscribeAsync([`${this.#prefix}/#`], { qos: 1 })
    await this.#publishAbout('version', GATEWAY_VERSION)
    await this.#publishAbout('status', true)
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
    for (const device of this.devices)
      for (const value of device.values) {
        if (!value.writeable || device.topicOf(value, this.#style) !== target) continue
        const wanted = parseCommand(text, value.type)
        if (wanted !== undefined) this.command(device, value, wanted)
      }
  }

  /** Answers an MQTT API call as the gateway does. */
  async #onCall(method: string, text: string): Promise<void> {
    const origin = parseJson(text)
    const args = isRecord(origin) && Array.isArray(origin.args) ? origin.args : []
    const fail = (message: string) => ({ success: false, message })
    const call = () => {
      if (!this.isDriverReady) return fail('Z-Wave client not connected')
      try {
        return { success: true, message: 'Success zwave api call', result: this.#call(method, args) }
      } catch (error) {
        return fail(error instanceof Error ? error.message : String(error))
      }
    }
    await this.#publish(`_CLIENTS/${this.#gateway}/api/${method}`, { ...call(), origin }, { retain: false })
  }

  #call(method: string, [first, second]: readonly unknown[]): unknown {
    if (method === 'getNodes') return [CONTROLLER, ...this.devices.map(device => device.toNode())]
    if (method === '_getScenes')
      return this.scenes.map(({ name }, index) => ({ sceneid: index + 1, label: name, values: [] }))
    if (method === 'writeValue') return this.#writeValue(first, second)
    if (method !== '_activateScene') throw new Error('Unknown API')
    const scene = this.scenes[Number(first) - 1]
    if (!scene) throw new Error('No scene found with given sceneid')
    for (const [name, value] of Object.entries(scene.values)) {
      const device = this.devices.find(item => item.name === name)
      const target = device?.values.find(({ writeable }) => writeable)
      if (device && target) this.command(device, target, value)
    }
    return true
  }

  #writeValue(wanted: unknown, value: unknown): unknown {
    if (!isRecord(wanted) || !isPrimitive(value)) throw new Error('Invalid valueId')
    const { nodeId, commandClass, endpoint = 0, property, propertyKey } = wanted
    const id = [commandClass, endpoint, property, propertyKey].filter(part => part !== undefined).join('-')
    const device = this.devices.find(item => item.nodeId === nodeId)
    const target = device?.values.find(item => item.writeable && valueId(item) === id)
    if (!device || !target) throw new Error('No value found with given valueId')
    this.command(device, target, value)
    return SENT
  }

  /** Publishes the gateway's own status or version. */
  async #publishAbout(about: 'status' | 'version', value: unknown): Promise<void> {
    await this.#publish(`_CLIENTS/${this.#gateway}/${about}`, { value, time: Date.now() })
  }

  async #publishStatus(device: VirtualDevice): Promise<void> {
    const { status, nodeId } = device
    const value = status !== 'Dead'
    const payload = this.#options.payload === 'raw' ? value : { time: Date.now(), value, status, nodeId }
    await this.#publish(`${device.path(this.#style)}/status`, payload, { qos: 1 })
  }

  /** Target values before current ones, as Z-Wave JS publishes them; `lastActive` comes last. */
  async #report(
    device: VirtualDevice,
    values: readonly VirtualValue[],
    options?: IClientPublishOptions,
  ): Promise<void> {
    const ordered = [...values].sort((a, b) => Number(b.writeable) - Number(a.writeable))
    const published = this.#options.topics === 'manual' ? [] : ordered
    const time = Date.now()
    await Promise.all([
      ...published.map(value =>
        this.#publish(device.topicOf(value, this.#style), this.#payloadOf(device, value), options),
      ),
      this.#publish(`${device.path(this.#style)}/lastActive`, { time, value: time }, options),
    ])
  }

  #payloadOf(device: VirtualDevice, virtual: VirtualValue): unknown {
    const { value, lastUpdate: time } = virtual
    if (this.#options.payload === 'raw') return value
    return this.#options.payload === 'entire' ? device.toValueId(virtual) : { time, value }
  }

  async #publish(topic: string, payload: unknown, options?: IClientPublishOptions): Promise<void> {
    const settings = { qos: 0, retain: this.#retain, ...options } as const
    if (this.#client?.connected)
      await this.#client.publishAsync(`${this.#prefix}/${topic}`, JSON.stringify(payload) ?? '', settings)
  }
}
