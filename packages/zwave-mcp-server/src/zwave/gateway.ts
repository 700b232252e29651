import { randomUUID } from 'node:crypto'
import type { BrokerLink } from '../broker-connection.ts'
import { clientTopic } from './topics.ts'
import { isRecord, parseJson } from './values.ts'

/** The outcome of a gateway API call. `silent`: the gateway did not answer in time. */
export type ApiAnswer =
  | { readonly kind: 'done'; readonly result: unknown }
  | { readonly kind: 'failed' | 'silent' | 'not sent'; readonly cause: string }

type Method = 'getNodes' | 'writeValue' | '_getScenes' | '_activateScene'

export interface GatewayOptions {
  readonly link: BrokerLink
  readonly prefix: string
  /** The gateway's name in its MQTT settings, so that it can be asked before it has been seen. */
  readonly gatewayName?: string | undefined
}

/** The gateway below a prefix: what is known about it (`null`: not known), and its MQTT API. Others there are ignored. */
export class Gateway {
  /** Its client id: the configured one, or the first that was seen. */
  name: string | null
  online: boolean | null = null
  version: string | null = null
  /** Whether the stick answers: from its node status, or the gateway refusing calls without it. */
  controllerAnswers = true
  readonly #options: GatewayOptions
  readonly #waiters = new Set<{ method: Method; id: string; finish(answer: ApiAnswer): void }>()
  #driverReady: boolean | null = null

  constructor(options: GatewayOptions) {
    this.#options = options
    this.name = options.gatewayName ? `ZWAVE_GATEWAY-${options.gatewayName}` : null
  }

  get canBeAsked(): boolean {
    return this.name !== null && this.online !== false
  }

  get driverReady(): boolean | null {
    return this.controllerAnswers ? this.#driverReady : false
  }

  /** Records the gateway's own status or version; its last will is `{"value":false}`. */
  onAbout(client: string, about: 'status' | 'version', text: string): void {
    const json = parseJson(text)
    const value = isRecord(json) ? json.value : json
    // A gateway that was renamed leaves its status behind.
    if (!this.#options.gatewayName && about === 'status' && this.online !== true) this.name = client
    if (client !== this.name) return
    if (about === 'status') this.online = value === true
    else if (typeof value === 'string') this.version = value
  }

  onDriver(text: string): void {
    this.#driverReady = text.trim() === '' ? null : text.trim() === 'true'
    if (this.#driverReady) this.controllerAnswers = true
  }

  /** Whether an answer to this method is on its way. */
  awaits(method: Method): boolean {
    return [...this.#waiters].some(waiter => waiter.method === method)
  }

  async call(method: Method, timeoutMs: number, ...args: unknown[]): Promise<ApiAnswer> {
    const { prefix, link } = this.#options
    // The gateway echoes the request, so an id of our own identifies our answer among those for other clients.
    const id = randomUUID()
    const topic = clientTopic(prefix, this.name ?? '', `api/${method}/set`)
    if (!this.name || !link.publish(topic, JSON.stringify({ args, id })))
      return { kind: 'not sent', cause: 'there is no connection to the MQTT broker' }
    return new Promise(resolve => {
      const finish = (answer: ApiAnswer) => {
        clearTimeout(timer)
        this.#waiters.delete(waiter)
        resolve(answer)
      }
      const waiter = { method, id, finish }
      const timer = setTimeout(finish, timeoutMs, { kind: 'silent', cause: 'the gateway did not answer' })
      this.#waiters.add(waiter)
    })
  }

  /** Handles an answer, whoever asked; returns it parsed. */
  onAnswer(method: string, json: unknown): ApiAnswer {
    const { success, result, message, origin } = isRecord(json) ? json : {}
    const cause = typeof message === 'string' ? message.slice(0, 200) : 'its answer is malformed'
    const answer: ApiAnswer = success === true ? { kind: 'done', result } : { kind: 'failed', cause }
    // A gateway whose stick is gone refuses every call.
    if (answer.kind === 'failed' && /not connected|not ready/i.test(cause)) this.controllerAnswers = false
    const asked = isRecord(origin) ? origin.id : undefined
    const waiters = [...this.#waiters].filter(waiter => waiter.method === method)
    waiters.find(({ id }) => asked === undefined || asked === id)?.finish(answer)
    return answer
  }

  /** The connection was lost: no answer will come. */
  onLost(): void {
    for (const { finish } of this.#waiters)
      finish({ kind: 'silent', cause: 'the connection to the MQTT broker was lost' })
  }
}
