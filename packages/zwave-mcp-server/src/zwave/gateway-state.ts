import { isRecord, parseJson } from './payload.ts'

/** More gateways than that below one prefix are somebody's joke. */
const MAX_GATEWAYS = 16
const CONTROLLER_READY = 0

/** What is known of the gateways below a prefix: normally there is one. `null` means that nobody has said. */
export class GatewayState {
  readonly #online = new Map<string, boolean>()
  readonly #versions = new Map<string, string>()
  readonly #configured: string | undefined
  #driverReady: boolean | null = null
  #controllerAnswers = true

  /** `configured`: the client id of a gateway that need not be heard of to be asked. */
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

  /** Takes in what a gateway says of itself; its last will is `{"value":false}`. */
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

  /** Whether the stick answers: from its own node status, an event, or a gateway that refuses calls without it. */
  applyController(answers: boolean): void {
    this.#controllerAnswers = answers
  }

  /** Takes in one of Z-Wave JS's own events, which a gateway publishes if it is set to. */
  applyEvent(source: string, event: string, text: string): void {
    const json = parseJson(text)
    const [status] = isRecord(json) && Array.isArray(json.data) ? json.data : []
    if (source === 'controller' && /status/i.test(event) && typeof status === 'number')
      this.applyController(status === CONTROLLER_READY)
  }
}
