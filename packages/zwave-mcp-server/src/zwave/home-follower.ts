import type { Logger } from '../log.ts'
import type { Message } from '../mqtt/broker-link.ts'
import { Arrival } from './arrival.ts'
import type { Device } from './device.ts'
import { DeviceRegistry, type Taken } from './device-registry.ts'
import { type ApiAnswer, GatewayApi } from './gateway-api.ts'
import { GatewayState } from './gateway-state.ts'
import { ignoredMessages } from './ignored-messages.ts'
import { NodePaths } from './node-paths.ts'
import { type Node, parseNodes } from './nodes.ts'
import { type Payload, parseJson, parsePayload } from './payload.ts'
import { Reports } from './reports.ts'
import { parseScenes, type Scene } from './scenes.ts'
import { addressKey, parseTopic, type Topic, type ValueAddress } from './topics.ts'

export interface FollowerOptions {
  readonly prefix: string
  readonly gatewayName?: string | undefined
  readonly logger: Logger
  readonly now?: () => number
  /** Sends a message now; false if not connected. */
  readonly publish: (topic: string, text: string) => boolean
}

type NodeTopic = Topic & { kind: 'value' | 'status' }

const GATEWAY_PREFIX = 'ZWAVE_GATEWAY-'
const ANSWER_MS = 1_000
const QUIET_MS = 60
const ARRIVAL_MAX_MS = 1_500
const RELIST_MS = 10_000
/** A list younger than this is not requested again. */
const FRESH_MS = 500

/** Follows what a home publishes, and asks its gateways for what they do not publish. */
export class HomeFollower {
  readonly gateway: GatewayState
  readonly api: GatewayApi
  readonly reports = new Reports()
  readonly #options: FollowerOptions
  readonly #registry = new DeviceRegistry()
  readonly #ignore: ReturnType<typeof ignoredMessages>
  readonly #arrival: Arrival
  readonly #now: () => number
  readonly #listedAt = new Map<string, number>()
  readonly #controllers = new Map<string, readonly string[]>()
  readonly #scenes = new Map<string, readonly Scene[]>()
  #askedAt = Number.NEGATIVE_INFINITY
  /** When the last message arrived, in ms since 1970. */
  lastMessageAt: number | null = null

  constructor(options: FollowerOptions) {
    const { logger, gatewayName, now = Date.now } = options
    this.#options = options
    this.#now = now
    this.#ignore = ignoredMessages(logger, now)
    this.api = new GatewayApi(options)
    this.gateway = new GatewayState(gatewayName && GATEWAY_PREFIX + gatewayName)
    this.#arrival = new Arrival({
      quietMs: QUIET_MS,
      maxMs: ARRIVAL_MAX_MS,
      expectsMore: () => this.api.awaits('getNodes'),
    })
  }

  /** Resolves once the state of the home is in. */
  get whenArrived(): Promise<void> {
    return this.#arrival.whenComplete
  }

  devices(): Device[] {
    return this.#registry.devices()
  }

  scenes(): Scene[] {
    return [...this.#scenes.values()].flat()
  }

  /** Whether any gateway has listed its scenes, even if there are none. */
  get hasListedScenes(): boolean {
    return this.#scenes.size > 0
  }

  /** Whether the known state of a device is current: it publishes its values, or its gateway has just listed them. */
  isLive({ isFollowed, gateway }: Device): boolean {
    return isFollowed || this.#listAge(gateway) < FRESH_MS + ANSWER_MS
  }

  onConnected(): void {
    this.#arrival.begin()
    for (const client of this.gateway.reachable) void this.#list(client)
  }

  onLost(): void {
    this.api.lose()
    this.reports.lose()
    this.#arrival.complete()
  }

  onMessage(message: Message): void {
    this.#options.logger.trace({ topic: message.topic, payload: message.text }, 'message')
    this.lastMessageAt = this.#now()
    this.#arrival.heard()
    const topic = parseTopic(this.#options.prefix, message.topic)
    if (topic.kind === 'driver') this.gateway.applyDriver(message.text)
    else if (topic.kind === 'event') this.gateway.applyEvent(topic.source, topic.event, message.text)
    else if (topic.kind === 'gateway') this.#onGateway(topic, message)
    else if (topic.kind === 'api') this.#onApi(topic, message)
    else if (topic.kind === 'value' || topic.kind === 'status') this.#onNode(topic, message)
  }

  /** Whether a gateway has listed its nodes, and so can be expected to do it again. */
  get hasList(): boolean {
    return this.#listedAt.size > 0
  }

  /** Asks the gateways for their nodes and scenes, unless they just listed them. False: not all of them answered. */
  async refresh(freshMs = FRESH_MS): Promise<boolean> {
    const stale = this.gateway.reachable.filter(client => this.#listAge(client) >= freshMs)
    const answers = await Promise.all(stale.map(client => this.#list(client)))
    return answers.every(({ kind }) => kind === 'done')
  }

  /** Asks a gateway for its nodes and scenes; the answer is handled like any message. */
  #list(client: string): Promise<ApiAnswer> {
    this.#askedAt = this.#now()
    // Answers come in the order of the calls, so the scenes are in as soon as the nodes are.
    void this.api.call({ client, method: '_getScenes', timeoutMs: ANSWER_MS })
    return this.api.call({ client, method: 'getNodes', timeoutMs: ANSWER_MS })
  }

  #listAge(client = ''): number {
    return this.#now() - (this.#listedAt.get(client) ?? Number.NEGATIVE_INFINITY)
  }

  #onGateway({ client, about }: Topic & { kind: 'gateway' }, { text }: Message): void {
    this.gateway.apply(client, about, text)
    if (about === 'status' && this.gateway.reachable.includes(client)) void this.#list(client)
  }

  #onApi({ client, method }: Topic & { kind: 'api' }, message: Message): void {
    const answer = this.api.receive(client, method, parseJson(message.text))
    // A gateway whose stick is gone refuses every call.
    if (answer.kind === 'failed' && /not connected|not ready/i.test(answer.cause))
      this.gateway.applyController(false)
    if (method === '_getScenes' && answer.kind === 'done')
      this.#scenes.set(client, parseScenes(answer.result, client))
    if (method !== 'getNodes') return
    const nodes = answer.kind === 'done' ? parseNodes(answer.result) : undefined
    if (nodes) this.#onNodes(client, nodes)
    else this.#ignore(message, 'it is not a list of nodes')
  }

  #onNodes(client: string, nodes: readonly Node[]): void {
    const controllers = nodes.filter(({ isController }) => isController)
    this.#controllers.set(client, controllers.flatMap(NodePaths.of))
    this.gateway.applyController(controllers.every(({ status }) => status !== 'Dead'))
    this.#listedAt.set(client, this.#now())
    this.#registry.applyNodes(
      nodes.filter(({ isController }) => !isController),
      { gateway: client, complete: this.gateway.reachable.every(other => this.#listedAt.has(other)) },
    )
    this.#hearList()
    this.#arrival.complete()
    this.#options.logger.debug({ gateway: client, nodes: nodes.length }, 'the gateway listed its nodes')
  }

  /** For values without a topic, the list is the only report there will be. */
  #hearList(): void {
    for (const { id, values } of this.devices())
      for (const value of values)
        if (value.topic === undefined && value.value !== undefined)
          this.reports.hear(placeOf(id, value), value.value)
  }

  #onNode(topic: NodeTopic, message: Message): void {
    if (message.text === '') {
      if (topic.kind === 'value') this.#registry.removeValue(topic.node, topic.address)
      return
    }
    const parsed = parsePayload(message.text)
    if (!parsed.ok) this.#ignore(message, parsed.reason)
    else if (this.#isController(topic.node)) this.#onController(topic, parsed.payload)
    else
      this.#onTaken(this.#take(topic, parsed.payload, message), topic, { message, payload: parsed.payload })
  }

  #isController(node: string): boolean {
    return [...this.#controllers.values()].some(paths => paths.includes(node))
  }

  #onController({ kind }: NodeTopic, { status, value }: Payload): void {
    if (kind === 'status') this.gateway.applyController(status !== 'Dead' && value !== false)
  }

  #take(topic: NodeTopic, payload: Payload, message: Message): Taken {
    const { retained } = message
    if (topic.kind === 'status') return this.#registry.applyStatus({ node: topic.node, payload, retained })
    // A live message without a time is from now; the age of a retained one is unknown.
    const timed = retained || payload.time !== undefined ? payload : { ...payload, time: this.#now() }
    const path = message.topic.slice(this.#options.prefix.length + 1)
    return this.#registry.applyValue({ ...topic, payload: timed, retained, topic: path })
  }

  #onTaken(
    taken: Taken,
    topic: NodeTopic,
    { message, payload }: { message: Message; payload: Payload },
  ): void {
    if (taken.kind === 'ignored') this.#ignore(message, taken.reason)
    else if (taken.kind === 'unknown') this.#onUnknown(message)
    else if (topic.kind === 'value' && !message.retained && payload.value !== undefined)
      this.reports.hear(placeOf(taken.deviceId, topic.address), payload.value)
    if (taken.kind === 'moved') this.#relist(FRESH_MS)
  }

  /** A device that the gateway did not list is a leftover or has just joined, so the list is requested again. */
  #onUnknown(message: Message): void {
    this.#ignore(message, 'the gateway lists no such device')
    this.#relist(RELIST_MS)
  }

  #relist(pauseMs: number): void {
    if (this.#now() - this.#askedAt < pauseMs) return
    for (const client of this.gateway.reachable) void this.#list(client)
  }
}

/** A key that is unique per value across all devices. */
export function placeOf(deviceId: number, address: ValueAddress): string {
  return `${deviceId}/${addressKey(address)}`
}
