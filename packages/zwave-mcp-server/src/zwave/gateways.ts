import { randomUUID } from 'node:crypto'
import { clientTopic } from './topics.ts'
import { isRecord, parseJson } from './values.ts'

/** The outcome of a gateway API call. `silent`: the gateway did not answer in time. */
export type ApiAnswer =
  | { readonly kind: 'done'; readonly result: unknown }
  | { readonly kind: 'failed' | 'silent' | 'not sent'; readonly cause: string }

export interface ApiCall {
  readonly client: string
  readonly method: 'getNodes' | 'writeValue' | '_getScenes' | '_activateScene'
  readonly args?: readonly unknown[]
  readonly timeoutMs: number
}

export interface GatewayOptions {
  readonly prefix: string
  /** The gateway's name in its MQTT settings, so that it can be asked before it has been seen. */
  readonly gatewayName?: string | undefined
  /** Sends a message now; false if not connected. */
  readonly publish: (topic: string, text: string) => boolean
}

/** Nobody runs more gateways than this below one prefix. */
const MAX_GATEWAYS = 16

/** The gateways below a prefix, normally just one: what is known about them (`null`: not known), and their MQTT API. */
export class Gateways {
  readonly #options: GatewayOptions
  readonly #online = new Map<string, boolean>()
  readonly #versions = new Map<string, string>()
  readonly #waiters = new Set<ApiCall & { id: string; finish(answer: ApiAnswer): void }>()
  #driverReady: boolean | null = null
  /** Whether the stick answers: from its node status, or a gateway refusing calls without it. */
  controllerAnswers = true

  constructor(options: GatewayOptions) {
    this.#options = options
  }

  /** The client ids of the gateways that can be asked. */
  get reachable(): string[] {
    const online = [...this.#online].filter(([, isOnline]) => isOnline).map(([client]) => client)
    const { gatewayName } = this.#options
    const configured = gatewayName && `ZWAVE_GATEWAY-${gatewayName}`
    return configured && !this.#online.has(configured) ? [...online, configured] : online
  }

  get name(): string | null {
    return this.reachable[0] ?? [...this.#online.keys()][0] ?? null
  }

  get online(): boolean | null {
    return this.#online.size === 0 ? null : [...this.#online.values()].includes(true)
  }

  get version(): string | null {
    return this.#versions.get(this.name ?? '') ?? null
  }

  get driverReady(): boolean | null {
    return this.controllerAnswers ? this.#driverReady : false
  }

  /** Records a gateway's own status or version; its last will is `{"value":false}`. */
  onAbout(client: string, about: 'status' | 'version', text: string): void {
    const json = parseJson(text)
    const value = isRecord(json) ? json.value : json
    if (!this.#online.has(client) && this.#online.size >= MAX_GATEWAYS) return
    if (about === 'status') this.#online.set(client, value === true)
    else if (typeof value === 'string' && this.#versions.size < MAX_GATEWAYS)
      this.#versions.set(client, value)
  }

  onDriver(text: string): void {
    this.#driverReady = text.trim() === '' ? null : text.trim() === 'true'
    if (this.#driverReady) this.controllerAnswers = true
  }

  /** Whether an answer to this method is on its way. */
  awaits(method: ApiCall['method']): boolean {
    return [...this.#waiters].some(waiter => waiter.method === method)
  }

  async call(call: ApiCall): Promise<ApiAnswer> {
    const { client, method, args = [], timeoutMs } = call
    const { prefix, publish } = this.#options
    // The gateway echoes the request, so an id of our own identifies our answer among those for other clients.
    const id = randomUUID()
    if (!publish(clientTopic(prefix, client, `api/${method}/set`), JSON.stringify({ args, id })))
      return { kind: 'not sent', cause: 'there is no connection to the MQTT broker' }
    return new Promise(resolve => {
      const finish = (answer: ApiAnswer) => {
        clearTimeout(timer)
        this.#waiters.delete(waiter)
        resolve(answer)
      }
      const waiter = { ...call, id, finish }
      const timer = setTimeout(finish, timeoutMs, { kind: 'silent', cause: 'the gateway did not answer' })
      this.#waiters.add(waiter)
    })
  }

  /** Handles an answer, whoever asked; returns it parsed. */
  onAnswer(client: string, method: string, json: unknown): ApiAnswer {
    const { success, result, message, origin } = isRecord(json) ? json : {}
    const cause = typeof message === 'string' ? message.slice(0, 200) : 'its answer is malformed'
    const answer: ApiAnswer = success === true ? { kind: 'done', result } : { kind: 'failed', cause }
    // A gateway whose stick is gone refuses every call.
    if (answer.kind === 'failed' && /not connected|not ready/i.test(cause)) this.controllerAnswers = false
    const asked = isRecord(origin) ? origin.id : undefined
    const waiter = [...this.#waiters].find(
      item => item.client === client && item.method === method && (asked === undefined || asked === item.id),
    )
    waiter?.finish(answer)
    return answer
  }

  /** The connection was lost: no answer will come. */
  onLost(): void {
    for (const { finish } of this.#waiters)
      finish({ kind: 'silent', cause: 'the connection to the MQTT broker was lost' })
  }
}
