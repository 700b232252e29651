import { isRecord, parseJson } from './payload.ts'

/** Nobody runs more gateways than this below one prefix. */
const MAX_GATEWAYS = 16
const CONTROLLER_READY = 0

/** What is known about the gateways below a prefix, normally just one. `null` means not known. */
export class GatewayState {
  readonly #online = new Map<string, boolean>()
  readonly #versions = new Map<string, string>()
  readonly #configured: string | undefined
  #driverReady: boolean | null = null
  #controllerAnswers = true

  /** `configured`: the client id of a gateway that can be asked before it has been seen. */
  constructor(configured?: string) {
    this.#configured = configured
  }

  /** The client ids of the gateways that can be asked. */
  get reachable(): string[] {
    const online = [...this.#online].filter(([, isOnline]) => isOnline).map(([client]) => client)
    const configured = this.#configured
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
    return this.#controllerAnswers ? this.#driverReady : false
  }

  /** Records a gateway's own status or version; its last will is `{"value":false}`. */
  apply(client: string, about: 'status' | 'version', text: string): void {
    const json = parseJson(text)
    const value = isRecord(json) ? json.value : json
    if (!this.#online.has(client) && this.#online.size >= MAX_GATEWAYS) return
    if (about === 'status') this.#online.set(client, value === true)
    else if (typeof value === 'string' && this.#versions.size < MAX_GATEWAYS)
      this.#versions.set(client, value)
  }

  applyDriver(text: string): void {
    this.#driverReady = text.trim() === '' ? null : text.trim() === 'true'
    if (this.#driverReady) this.#controllerAnswers = true
  }

  /** Records whether the stick answers: from its node status, an event, or a gateway refusing calls without it. */
  applyController(answers: boolean): void {
    this.#controllerAnswers = answers
  }

  /** Records a Z-Wave JS event, which a gateway publishes if configured to. */
  applyEvent(source: string, event: string, text: string): void {
    const json = parseJson(text)
    const [status] = isRecord(json) && Array.isArray(json.data) ? json.data : []
    if (source === 'controller' && /status/i.test(event) && typeof status === 'number')
      this.applyController(status === CONTROLLER_READY)
  }
}
