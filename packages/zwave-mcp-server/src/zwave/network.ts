import { setTimeout as delay } from 'node:timers/promises'
import { type BrokerLink, CONNECTING, type Message } from '../broker-connection.ts'
import type { Logger } from '../log.ts'
import type { Device } from './device.ts'
import { type ApiAnswer, Gateway, type GatewayOptions } from './gateway.ts'
import { DeviceRegistry, UNLISTED } from './registry.ts'
import { addressKey, parseTopic, type Topic } from './topics.ts'
import type { DeviceValue, Primitive, Scene, ValueAddress } from './values.ts'
import { commandClassNumber, parseJson, parseNodes, parsePayload, parseScenes, rejection } from './values.ts'

export interface NetworkOptions extends GatewayOptions {
  readonly logger: Logger
  readonly now?: () => number
}

/** A command to a device, and which report confirms it. */
export interface Command {
  readonly device: Device
  /** The value in which the device reports the result. */
  readonly state: DeviceValue
  /** The property that accepts the command. */
  readonly target: string
  readonly value: Primitive
  readonly accepts: (value: Primitive) => boolean
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
}

/**
 * How a command ended; `reported` is the device's last report, accepted or not. `refused`: the gateway received the command
 * and rejected it.
 */
type CommandOutcome =
  | { readonly kind: 'confirmed' | 'timeout' | 'lost' | 'cancelled'; readonly reported?: Primitive }
  | { readonly kind: 'not sent' | 'refused'; readonly cause: string }

const FIRST_CONNECT_MS = 3_000
const CHECK_MS = 5
/** How long a broker that is there takes to answer. */
export const PROBE_MS = 1_000
const POLL_MS = 500
const ANSWER_MS = 1_000
/** After this long without a message, the retained ones count as received: MQTT does not mark their end. */
const QUIET_MS = 200
const FIRST_MESSAGE_MS = 300
const ARRIVAL_MAX_MS = 1_500
const RELIST_MS = 10_000
/** A list younger than this is not requested again. */
const FRESH_MS = 500
const NO_CONNECTION = { kind: 'not sent', cause: 'there is no connection to the MQTT broker' } as const
const NO_ANSWER = { kind: 'not sent', cause: 'the MQTT broker does not answer' } as const

/**
 * The Z-Wave home behind the broker: follows what it publishes, asks its gateways for what they do not publish, and sends
 * commands. A command goes out once, now, or not at all.
 */
export class ZwaveNetwork {
  readonly gateway: Gateway
  /** When the last message arrived, in ms since 1970. */
  lastMessageAt: number | null = null
  /** Undefined: the gateway has not listed its scenes. */
  scenes: readonly Scene[] | undefined
  readonly link: BrokerLink
  readonly #options: NetworkOptions
  readonly #now: () => number
  readonly #registry = new DeviceRegistry()
  /** Commands that wait for a report of their device, by its place. */
  readonly #waiters = new Set<{ place: string; hear(value: Primitive): void; onLost(): void }>()
  #listedAt = Number.NEGATIVE_INFINITY
  #askedAt = Number.NEGATIVE_INFINITY
  #started = false
  /** Whether the state of the home is in, so that no tool answers from half of it; at the latest from this time on. */
  #hasArrived = false
  #quietFrom = 0
  /** Why messages were ignored so far. */
  readonly #ignored = new Set<string>()

  constructor(options: NetworkOptions) {
    this.#options = options
    this.link = options.link
    this.#now = options.now ?? Date.now
    this.gateway = new Gateway(options)
  }

  /** Connects; further calls do nothing. `whyNotReady()` calls it too. */
  start(): void {
    if (this.#started) return
    this.#started = true
    this.link.start({
      onChange: () => {
        if (this.link.problem) return this.#onLost()
        this.#hasArrived = false
        this.#quietFrom = Date.now() + FIRST_MESSAGE_MS
        if (this.gateway.canBeAsked) void this.#list()
      },
      onMessage: message => this.#onMessage(message),
    })
  }

  async close(): Promise<void> {
    this.#onLost()
    await this.link.close()
  }

  devices(): Device[] {
    return this.#registry.devices()
  }

  /** Whether the known state of a device is current: it publishes its values, or the gateway has just listed them. */
  isLive({ isFollowed }: Device): boolean {
    const isKnown = isFollowed || this.#now() - this.#listedAt < FRESH_MS + ANSWER_MS
    return !this.link.problem && isKnown
  }

  /** Waits until the state of the home is in. Returns the cause if the broker is unreachable. */
  async whyNotReady(): Promise<string | undefined> {
    this.start()
    const { link } = this
    await until(() => link.problem !== CONNECTING, FIRST_CONNECT_MS)
    const isQuiet = () => Date.now() > this.#quietFrom && !this.gateway.awaits('getNodes')
    const isOver = () => this.#hasArrived || link.problem !== undefined || isQuiet()
    await until(isOver, ARRIVAL_MAX_MS)
    // What arrived while this process was held up is read before the broker's answer.
    if (!this.#hasArrived && (await link.answers(PROBE_MS))) await until(isOver, ARRIVAL_MAX_MS)
    this.#hasArrived = true
    if (!link.problem && this.devices().some(({ isFollowed }) => !isFollowed)) await this.refresh()
    return link.problem
  }

  /** Asks the gateway for its nodes and scenes, unless it just listed them. False: it did not answer. */
  async refresh(freshMs = FRESH_MS): Promise<boolean> {
    if (!this.gateway.canBeAsked || this.#now() - this.#listedAt < freshMs) return true
    return (await this.#list()).kind === 'done'
  }

  async activate({ id }: Scene, timeoutMs: number): Promise<ApiAnswer> {
    if (!(await this.link.answers(PROBE_MS))) return NO_ANSWER
    return this.gateway.call('_activateScene', timeoutMs, id)
  }

  /** Sends a command and waits for the device's report. */
  async send(command: Command): Promise<CommandOutcome> {
    // Ask first: a hanging broker would accept the command and deliver it much later.
    if (!(await this.link.answers(PROBE_MS))) return NO_ANSWER
    if (command.signal?.aborted) return { kind: 'not sent', cause: 'the call was cancelled' }
    const { device, state, value } = command
    const outcome = await (state.topic ? this.#publish(command, state.topic) : this.#write(command))
    this.#options.logger.debug({ device: device.name, value, outcome: outcome.kind }, 'command')
    // A device that stays silent may have been renamed.
    if (outcome.kind === 'timeout') void this.refresh()
    return outcome
  }

  /** Sends through the topic on which the device was heard. */
  async #publish(command: Command, heardOn: string): Promise<CommandOutcome> {
    const { property, key } = command.state
    const end = key === undefined ? property : `${property}/${key}`
    const topic = `${heardOn.slice(0, -end.length)}${command.target}${end.slice(property.length)}`
    const isSent = this.link.publish(`${this.#options.prefix}/${topic}/set`, JSON.stringify(command.value))
    return isSent ? this.#report(command) : NO_CONNECTION
  }

  /** Sends through the gateway's API, which addresses the device by its node id, whatever its topics. */
  async #write(command: Command): Promise<CommandOutcome> {
    const { device, state, target: property, value, timeoutMs } = command
    const { nodeId, isListed } = device
    if (!isListed) return { kind: 'not sent', cause: 'the address of its gateway is not known yet' }
    const { endpoint, key } = state
    const commandClass = commandClassNumber(state.commandClass)
    // JSON omits a property key that is undefined.
    const propertyKey = key !== undefined && /^\d+$/.test(key) ? Number(key) : key
    const address = { nodeId, commandClass, endpoint, property, propertyKey }
    const written = this.gateway.call('writeValue', timeoutMs, address, value)
    const reported = this.#report(command)
    // Reports come on the device's topics if it has any; otherwise the gateway is polled.
    const asking = setInterval(() => void this.refresh(), POLL_MS)
    const outcome = await Promise.race([reported, written.then(answer => refusal(answer) ?? reported)])
    clearInterval(asking)
    return outcome
  }

  /** Waits for a device to report. Only reports that arrive from now on count. */
  #report({ device, state, accepts, timeoutMs, signal }: Command): Promise<CommandOutcome> {
    return new Promise(resolve => {
      let last: { reported?: Primitive } = {}
      const end = (kind: 'confirmed' | 'timeout' | 'lost' | 'cancelled') => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', onAbort)
        this.#waiters.delete(waiter)
        resolve({ kind, ...last })
      }
      const hear = (reported: Primitive) => {
        last = { reported }
        if (accepts(reported)) end('confirmed')
      }
      const onAbort = () => end('cancelled')
      const timer = setTimeout(end, timeoutMs, 'timeout')
      const waiter = { place: placeOf(device.id, state), hear, onLost: () => end('lost') }
      signal?.addEventListener('abort', onAbort, { once: true })
      this.#waiters.add(waiter)
    })
  }

  #hear(place: string, value: Primitive): void {
    for (const waiter of this.#waiters) if (waiter.place === place) waiter.hear(value)
  }

  #onLost(): void {
    this.gateway.onLost()
    for (const waiter of this.#waiters) waiter.onLost()
  }

  #onMessage(message: Message): void {
    const { topic: name, text } = message
    this.#options.logger.trace({ topic: name, payload: text }, 'message')
    this.lastMessageAt = this.#now()
    this.#quietFrom = Date.now() + QUIET_MS
    const topic = parseTopic(this.#options.prefix, name)
    if (topic.kind === 'driver') this.gateway.onDriver(text)
    else if (topic.kind === 'api') this.#onApi(topic, message)
    else if (topic.kind === 'value' || topic.kind === 'status') this.#onNode(topic, message)
    else if (topic.kind === 'gateway') {
      const { client, about } = topic
      this.gateway.onAbout(client, about, text)
      if (about === 'status' && this.gateway.name === client && this.gateway.canBeAsked) void this.#list()
    }
  }

  #onApi({ client, method }: Topic & { kind: 'api' }, message: Message): void {
    if (client !== this.gateway.name) return
    const answer = this.gateway.onAnswer(method, parseJson(message.text))
    const result = answer.kind === 'done' ? answer.result : undefined
    if (method === '_getScenes' && answer.kind === 'done') this.scenes = parseScenes(result)
    if (method !== 'getNodes') return
    const nodes = parseNodes(result)
    if (!nodes) return this.#ignore(message, 'it is not a list of nodes')
    this.gateway.controllerAnswers = !nodes.some(node => node.isController && node.status === 'Dead')
    this.#listedAt = this.#now()
    this.#registry.applyNodes(nodes)
    // For values without a topic, the list is the only report there will be.
    for (const { id, values } of this.devices())
      for (const value of values)
        if (value.topic === undefined && value.value !== undefined)
          this.#hear(placeOf(id, value), value.value)
    this.#hasArrived = true
    this.#options.logger.debug({ nodes: nodes.length }, 'the gateway listed its nodes')
  }

  #onNode(topic: Topic & { kind: 'value' | 'status' }, message: Message): void {
    const { node } = topic
    const { retained } = message
    const address = topic.kind === 'value' ? topic.address : undefined
    if (message.text === '') return
    const payload = parsePayload(message.text)
    if (typeof payload === 'string') return this.#ignore(message, payload)
    // A live message without a time is from now; the age of a retained one is unknown.
    const timed = retained || payload.time !== undefined ? payload : { ...payload, time: this.#now() }
    const path = message.topic.slice(this.#options.prefix.length + 1)
    const taken = this.#registry.apply({ node, payload: timed, retained, topic: path, address })
    if ('ignored' in taken) {
      this.#ignore(message, taken.ignored)
      // It is a leftover or has just joined, so the list is requested again.
      if (taken.ignored === UNLISTED) this.#relist(RELIST_MS)
      return
    }
    const { status, value } = payload
    if (taken.isController && !address) this.gateway.controllerAnswers = status !== 'Dead' && value !== false
    if (address && !retained && value !== undefined) this.#hear(placeOf(taken.deviceId, address), value)
    if (taken.isMoved) this.#relist(FRESH_MS)
  }

  #relist(pauseMs: number): void {
    if (this.#now() - this.#askedAt >= pauseMs && this.gateway.canBeAsked) void this.#list()
  }

  /** Asks the gateway for its nodes and scenes; the answer is handled like any message. */
  #list(): Promise<ApiAnswer> {
    this.#askedAt = this.#now()
    // Answers come in the order of the calls, so the scenes are in as soon as the nodes are.
    void this.gateway.call('_getScenes', ANSWER_MS)
    return this.gateway.call('getNodes', ANSWER_MS)
  }

  /** Logs what was ignored; as a warning only the first for each reason. */
  #ignore({ topic, text: payload }: Message, reason: string): void {
    const level = this.#ignored.has(reason) ? 'debug' : 'warn'
    this.#ignored.add(reason)
    this.#options.logger[level]({ topic, payload, reason }, 'ignored a message')
  }
}

/** Waits until it is so, but not longer than this. */
async function until(isSo: () => boolean, maxMs: number): Promise<void> {
  for (const end = Date.now() + maxMs; !isSo() && Date.now() < end; ) await delay(CHECK_MS)
}

/** A key that is unique per value across all devices. */
function placeOf(deviceId: number, address: ValueAddress): string {
  return `${deviceId}/${addressKey(address)}`
}

function refusal(answer: ApiAnswer): CommandOutcome | undefined {
  if (answer.kind === 'not sent') return NO_CONNECTION
  if (answer.kind === 'failed') return { kind: 'refused', cause: answer.cause }
  const cause = answer.kind === 'done' && rejection(answer.result)
  return cause ? { kind: 'refused', cause } : undefined
}
