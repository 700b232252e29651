import type { BrokerLink } from '../mqtt/broker-link.ts'
import { commandClassNumber } from './command-classes.ts'
import type { Device, DeviceValue } from './device.ts'
import type { ApiAnswer } from './gateway-api.ts'
import { type FollowerOptions, HomeFollower, placeOf } from './home-follower.ts'
import { isRecord, type Primitive } from './payload.ts'
import type { ReportOutcome, ReportWait } from './reports.ts'
import type { Scene } from './scenes.ts'

export interface NetworkOptions extends Omit<FollowerOptions, 'publish'> {
  readonly link: BrokerLink
}

/** Whether the tools can answer, and if not, why. */
export type Readiness = { readonly ready: true } | { readonly ready: false; readonly cause: string }

export interface Command extends ReportWait {
  readonly device: Device
  /** The value in which the device reports the result. */
  readonly state: DeviceValue
  /** The property that accepts the command. */
  readonly target: string
  readonly value: Primitive
}

/** `refused`: the gateway received the command and rejected it. */
export type CommandOutcome = ReportOutcome | { readonly kind: 'not sent' | 'refused'; readonly cause: string }

const FIRST_CONNECT_MS = 3_000
const PROBE_MS = 1_000
const POLL_MS = 500
const NO_CONNECTION = { kind: 'not sent', cause: 'there is no connection to the MQTT broker' } as const

/** The statuses by which Z-Wave JS rejects a command; 255 and 254 mean success, 1 in progress. */
const REFUSALS: Readonly<Record<number, string>> = {
  0: 'the device does not support it',
  2: 'the device rejected it',
  3: 'the device has no such endpoint',
  4: 'the command class cannot be set',
  5: 'the value is invalid',
}

/**
 * The Z-Wave home behind the broker: its known state, and commands to it.
 * A command goes out once, now, or not at all.
 */
export class ZwaveNetwork extends HomeFollower {
  readonly #options: NetworkOptions
  #started = false
  #whenFirstState: Promise<void>
  #onFirstState: () => void = () => {}

  constructor(options: NetworkOptions) {
    super({ ...options, publish: (topic, text) => options.link.publish(topic, text) })
    this.#options = options
    this.#whenFirstState = new Promise(resolve => {
      this.#onFirstState = resolve
    })
  }

  /** Connects; further calls do nothing. `ready()` calls it too. */
  start(): void {
    if (this.#started) return
    this.#started = true
    this.#options.link.start({
      onState: ({ status }) => {
        this.#onFirstState()
        if (status === 'connected') this.onConnected()
        else this.onLost()
      },
      onMessage: message => this.onMessage(message),
    })
  }

  async close(): Promise<void> {
    this.onLost()
    await this.#options.link.close()
  }

  /** The broker's URL, without user and password. */
  get brokerUrl(): string {
    return this.#options.link.url
  }

  override isLive(device: Device): boolean {
    return this.#options.link.state.status === 'connected' && super.isLive(device)
  }

  /** Waits until the state of the home is in; if the broker is unreachable, says so immediately. */
  async ready(): Promise<Readiness> {
    this.start()
    if (this.#options.link.state.status === 'connecting') await atMost(this.#whenFirstState, FIRST_CONNECT_MS)
    await this.whenArrived
    const { state } = this.#options.link
    if (state.status !== 'connected')
      return { ready: false, cause: state.status === 'offline' ? state.cause : 'it has not answered yet' }
    if (this.devices().some(({ isFollowed }) => !isFollowed)) await this.refresh()
    return { ready: true }
  }

  /** Whether the broker answers now. */
  brokerAnswers(): Promise<boolean> {
    return this.#options.link.answers(PROBE_MS)
  }

  async activate({ gateway: client, id }: Scene, timeoutMs: number): Promise<ApiAnswer> {
    if (!(await this.brokerAnswers())) return { kind: 'not sent', cause: 'the MQTT broker does not answer' }
    return this.api.call({ client, method: '_activateScene', args: [id], timeoutMs })
  }

  /** Sends a command and waits for the device's report. */
  async send(command: Command): Promise<CommandOutcome> {
    // Ask first: a hanging broker would accept the command and deliver it much later.
    if (!(await this.brokerAnswers())) return { kind: 'not sent', cause: 'the MQTT broker does not answer' }
    if (command.signal?.aborted) return { kind: 'not sent', cause: 'the call was cancelled' }
    const { device, state, value } = command
    const outcome = await (state.topic ? this.#publish(command, state.topic) : this.#write(command))
    this.#options.logger.debug({ device: device.name, value, outcome: outcome.kind }, 'command')
    // A device that stays silent may have been renamed.
    if (outcome.kind === 'timeout') void this.refresh()
    return outcome
  }

  /** Sends through the topic on which the device was heard. */
  async #publish(
    { device, state, target, value, ...wait }: Command,
    heardOn: string,
  ): Promise<CommandOutcome> {
    const { property, key } = state
    const end = key === undefined ? property : `${property}/${key}`
    const topic = `${heardOn.slice(0, -end.length)}${target}${end.slice(property.length)}`
    const { prefix, link } = this.#options
    if (!link.publish(`${prefix}/${topic}/set`, JSON.stringify(value))) return NO_CONNECTION
    return this.reports.wait(placeOf(device.id, state), wait)
  }

  /** Sends through the gateway's API, which addresses the device by its node id, whatever its topics. */
  async #write(command: Command): Promise<CommandOutcome> {
    const { device, state, target, value, ...wait } = command
    const { gateway: client, nodeId } = device
    if (!client || nodeId === undefined)
      return { kind: 'not sent', cause: 'the address of its gateway is not known yet' }
    const { endpoint, key } = state
    const propertyKey = key !== undefined && /^\d+$/.test(key) ? Number(key) : key
    const commandClass = commandClassNumber(state.commandClass)
    // JSON omits a property key that is undefined.
    const args = [{ nodeId, commandClass, endpoint, property: target, propertyKey }, value]
    const written = this.api.call({ client, method: 'writeValue', args, timeoutMs: wait.timeoutMs })
    const reported = this.reports.wait(placeOf(device.id, state), wait)
    // Reports come on the device's topics if it has any; otherwise the gateway is polled.
    const asking = setInterval(() => void this.refresh(), POLL_MS)
    const outcome = await Promise.race([reported, written.then(answer => refusal(answer) ?? reported)])
    clearInterval(asking)
    return outcome
  }
}

function refusal(answer: ApiAnswer): CommandOutcome | undefined {
  if (answer.kind === 'not sent') return NO_CONNECTION
  if (answer.kind === 'failed') return { kind: 'refused', cause: answer.cause }
  const status = answer.kind === 'done' && isRecord(answer.result) ? Number(answer.result.status) : Number.NaN
  const cause = REFUSALS[status]
  return cause === undefined ? undefined : { kind: 'refused', cause }
}

async function atMost(promise: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<void>(resolve => {
    timer = setTimeout(resolve, ms)
  })
  await Promise.race([promise, timeout])
  clearTimeout(timer)
}
