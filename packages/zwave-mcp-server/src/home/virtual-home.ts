import type { IClientPublishOptions, MqttClient } from 'mqtt'
import { connectMqtt } from '../broker-connection.ts'
import { clientTopic, parseTopic, sanitizeTopic, type TopicStyle } from '../zwave/topics.ts'
import { isPrimitive, isRecord, type NodeStatus, type Primitive, parseJson } from '../zwave/values.ts'
import type { DeviceDescription, SceneDescription, VirtualValue } from './virtual-device.ts'
import { CONTROLLER, DEFAULT_DEVICES, DEFAULT_SCENES, VirtualDevice, valueId } from './virtual-device.ts'

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
  /** Defaults: `named` and `time-value`. */
  readonly topics?: (typeof GATEWAY_TYPES)[number] | undefined
  readonly payload?: (typeof PAYLOAD_TYPES)[number] | undefined
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
  readonly #style: TopicStyle
  #client: MqttClient | undefined

  constructor(options: VirtualHomeOptions) {
    this.#options = options
    this.#prefix = options.prefix ?? 'zwave'
    this.#gateway = sanitizeTopic(`ZWAVE_GATEWAY-${options.gatewayName ?? 'virtual-home'}`)
    this.#style = options.topics === 'valueid' ? 'valueid' : 'named'
    this.devices = (options.devices ?? DEFAULT_DEVICES).map(
      (device, index) => new VirtualDevice(device, index + 2, Date.now()),
    )
    this.scenes = options.scenes ?? (options.devices ? [] : DEFAULT_SCENES)
  }

  /** Connects and publishes everything; resolves once the broker has it. */
  async start(): Promise<void> {
    const topic = clientTopic(this.#prefix, this.#gateway, 'status')
    const { brokerUrl, retain = true } = this.#options
    const client = await connectMqtt(brokerUrl, {
      clientId: `${this.#gateway}-${process.pid}`,
      reconnectPeriod: RECONNECT_MS,
      will: { topic, payload: Buffer.from('{"value":false}'), qos: 1, retain },
    })
    this.#client = client
    client.on('message', (topic, payload) => this.#onMessage(topic, payload.toString()))
    client.on('error', () => {})
    await new Promise<void>((resolve, reject) => {
      client.once('error', reject)
      client.on('connect', () => {
        const subscribed = client.subscribeAsync([`${this.#prefix}/#`], { qos: 1 })
        const announced = subscribed.then(() => this.#publishAbout('version', GATEWAY_VERSION))
        announced.then(() => this.#publishAbout('status', true)).then(resolve, reject)
      })
    })
    for (const device of this.devices) {
      await this.#publishStatus(device)
      await this.#report(device, device.values)
      for (const value of device.values) this.#drift(device, value)
    }
    // Packets are processed in order: once this one is acknowledged, the broker has everything before it.
    await this.setDriver(true)
  }

  /** Goes offline the way the gateway does, then disconnects. */
  async stop(): Promise<void> {
    await this.setDriver(false)
    await this.#publishAbout('status', false)
    await this.#client?.endAsync(!this.#client.connected)
  }

  /** Drops the connection without going offline first: the broker publishes the last will. */
  crash(): void {
    this.#client?.end(true)
    this.#client?.stream.destroy()
  }

  /** Unplugs the Z-Wave stick, or plugs it back in; resolves once the broker has it. */
  async setDriver(isReady: boolean): Promise<void> {
    this.isDriverReady = isReady
    await this.#publish('driver/status', isReady, { qos: 1 })
  }

  /** Changes the first value as if operated at the device itself; resolves once the broker has it. */
  async set(name: string, value: Primitive): Promise<void> {
    const device = this.#device(name)
    const [target] = device.values
    if (target) await this.#report(device, device.act(target, value, Date.now()), 1)
  }

  /** Makes a device die, fall asleep or come back; resolves once the broker has it. */
  async setStatus(name: string, status: NodeStatus): Promise<void> {
    await this.#publishStatus(Object.assign(this.#device(name), { status }))
  }

  /** Renames a device, which changes its topics; retained messages stay behind. Resolves once the broker has it. */
  async rename(name: string, newName: string): Promise<void> {
    await this.#publishStatus(Object.assign(this.#device(name), { name: newName }))
  }

  /** Delivers a command to a device, which acts on it if it can. */
  command(device: VirtualDevice, target: VirtualValue, value: Primitive): void {
    this.commands.push({ device: device.name, endpoint: target.endpoint, value, at: Date.now() })
    const { delayMs = this.#options.delayMs ?? DEFAULT_DELAY_MS, answers = true } = device.description
    if (!answers || device.status === 'Dead' || device.status === 'Asleep') return
    const act = () => void this.#report(device, device.act(target, value, Date.now()))
    setTimeout(act, delayMs).unref()
  }

  #device(name: string): VirtualDevice {
    const device = this.devices.find(item => item.name === name)
    if (!device) throw new Error(`The virtual home has no device called ${name}`)
    return device
  }

  /** Moves a value one step at a time between its bounds, up first. A dead device does not report. */
  #drift(device: VirtualDevice, target: VirtualValue): void {
    if (!target.drift) return
    const { min, max, step, everyMs } = target.drift
    let change = step
    const timer = setInterval(() => {
      if (this.#client?.disconnecting) return clearInterval(timer)
      const now = Number(target.value ?? min)
      if (now + change > max || now + change < min) change = -change
      Object.assign(target, { value: Math.round((now + change) * 100) / 100, lastUpdate: Date.now() })
      if (device.status !== 'Dead') void this.#report(device, [target])
    }, everyMs).unref()
  }

  #onMessage(topic: string, text: string): void {
    if (!topic.endsWith('/set')) return
    const path = topic.slice(0, -'/set'.length)
    const parsed = parseTopic(this.#prefix, path)
    const json = parseJson(text)
    if (parsed.kind === 'api') {
      if (parsed.client === this.#gateway) void this.#onCall(parsed.method, json)
    } else if (this.#options.topics !== 'manual')
      this.#onCommand(path.slice(this.#prefix.length + 1), isRecord(json) ? json.value : json)
  }

  /** A command may address the target value or the current one: both set the target. */
  #onCommand(path: string, wanted: unknown): void {
    const topic = path.replace(/\/current(Value|Mode)$/, '/target$1')
    for (const device of this.devices)
      for (const value of device.values)
        if (value.writeable && isPrimitive(wanted) && device.topicOf(value, this.#style) === topic)
          this.command(device, value, wanted)
  }

  /** Answers an MQTT API call as the gateway does. */
  async #onCall(method: string, origin: unknown): Promise<void> {
    const args = isRecord(origin) && Array.isArray(origin.args) ? origin.args : []
    let answer: object
    try {
      answer = { success: true, message: 'Success zwave api call', result: this.#call(method, args) }
    } catch (error) {
      answer = { success: false, message: error instanceof Error ? error.message : String(error) }
    }
    await this.#publish(`_CLIENTS/${this.#gateway}/api/${method}`, { ...answer, origin }, { retain: false })
  }

  #call(method: string, [first, second]: readonly unknown[]): unknown {
    if (!this.isDriverReady) throw new Error('Z-Wave client not connected')
    if (method === 'getNodes') return [CONTROLLER, ...this.devices.map(device => device.toNode())]
    if (method === '_getScenes')
      return this.scenes.map(({ name }, index) => ({ sceneid: index + 1, label: name, values: [] }))
    if (method === 'writeValue') return this.#writeValue(first, second)
    if (method !== '_activateScene') throw new Error('Unknown API')
    const scene = this.scenes[Number(first) - 1]
    if (!scene) throw new Error('No scene found with given sceneid')
    for (const [name, value] of Object.entries(scene.values)) {
      const device = this.#device(name)
      const target = device.values.find(({ writeable }) => writeable)
      if (target) this.command(device, target, value)
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
    // As Z-Wave JS says of a command that it sent unsupervised.
    return { status: 254 }
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
  async #report(device: VirtualDevice, values: readonly VirtualValue[], qos: 0 | 1 = 0): Promise<void> {
    const { topics, payload } = this.#options
    const ordered = values.toSorted((a, b) => Number(b.writeable) - Number(a.writeable))
    const published = (topics === 'manual' ? [] : ordered).map(virtual => {
      const { value, lastUpdate: time } = virtual
      const entire = payload === 'entire' ? device.toValueId(virtual) : { time, value }
      return this.#publish(device.topicOf(virtual, this.#style), payload === 'raw' ? value : entire, { qos })
    })
    const time = Date.now()
    const active = this.#publish(`${device.path(this.#style)}/lastActive`, { time, value: time }, { qos })
    await Promise.all([...published, active])
  }

  async #publish(topic: string, payload: unknown, options?: IClientPublishOptions): Promise<void> {
    const settings = { qos: 0, retain: this.#options.retain ?? true, ...options } as const
    if (this.#client?.connected && !this.#client.disconnecting)
      await this.#client.publishAsync(`${this.#prefix}/${topic}`, JSON.stringify(payload) ?? '', settings)
  }
}
