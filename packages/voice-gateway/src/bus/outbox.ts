import { randomUUID } from 'node:crypto'
import type { MqttClient } from 'mqtt'
import type { Clock, Logger } from 'toolpost'
import { type ClientSettings, connectClient, reconnectDelayMs } from './mqtt-client.ts'

/** mqtt.js keeps whatever it is given, without a limit, until the broker has it. */
const MAX_MESSAGES = 1_000
const MAX_BYTES = 32 * 1024 * 1024
/** With fewer there is room for the answers to what has been taken already. */
const ROOMY_MESSAGES = 500
/** How long closing waits for what is still to be delivered. */
const DELIVERY_AT_CLOSE_MS = 2_000
const FAREWELL_MS = 1_000

/**
 * Messages on their way to the broker: mqtt.js keeps each until the broker has it, over any number of connections. The
 * connection is one of its own: incoming messages can then wait for room here, while acknowledgements still come in.
 */
export class Outbox {
  readonly #logger: Logger
  readonly #clock: Clock
  readonly #settings: ClientSettings
  #client: Promise<MqttClient> | undefined
  readonly #undelivered = new Set<Promise<unknown>>()
  #bytes = 0
  #whenRoomy: (() => void)[] = []
  #isOverflowing = false

  constructor(settings: ClientSettings, { logger, clock }: { logger: Logger; clock: Clock }) {
    this.#logger = logger
    this.#clock = clock
    // Nobody else has this id, and nobody needs to know it again: what is unsent is here, not at the broker.
    this.#settings = { ...settings, clientId: `${settings.clientId}-${randomUUID().slice(0, 8)}` }
  }

  /** Never waits. If too many wait already, the message is lost. */
  add(topic: string, payload: string): void {
    if (this.#undelivered.size >= MAX_MESSAGES || this.#bytes > MAX_BYTES) return this.#overflow()
    this.#bytes += payload.length
    this.#client ??= connectClient(this.#settings).then(growPauses)
    const sent = this.#send(topic, payload).finally(() => this.#delivered(sent, payload))
    this.#undelivered.add(sent)
  }

  /** Resolves when there is room for the answer to a further message. */
  room(): Promise<void> {
    return new Promise(resolve => {
      this.#whenRoomy.push(resolve)
      this.#tellIfRoomy()
    })
  }

  /** Delivers what is left, as far as that is quickly done. */
  async close(): Promise<void> {
    await this.#within(DELIVERY_AT_CLOSE_MS, Promise.allSettled(this.#undelivered))
    const messages = this.#undelivered.size
    if (messages > 0) this.#logger.warn({ messages }, 'MQTT broker unreachable; messages are lost')
    const client = await this.#client
    if (!client) return
    await this.#within(FAREWELL_MS, client.endAsync(messages > 0 || !client.connected))
    client.stream.destroy()
  }

  /** mqtt.js gives up what it is handed while it repeats older messages, if the connection breaks then: it gets it again. */
  async #send(topic: string, payload: string): Promise<void> {
    const client = await this.#client
    while (client && !client.disconnecting) {
      try {
        return void (await client.publishAsync(topic, payload, { qos: 1 }))
      } catch {}
    }
  }

  #delivered(message: Promise<unknown>, payload: string): void {
    this.#undelivered.delete(message)
    this.#bytes -= payload.length
    if (this.#undelivered.size === 0) this.#isOverflowing = false
    this.#tellIfRoomy()
  }

  #tellIfRoomy(): void {
    if (this.#undelivered.size >= ROOMY_MESSAGES || this.#bytes > MAX_BYTES / 2) return
    for (const tell of this.#whenRoomy.splice(0)) tell()
  }

  /** Said once, until everything has been delivered. */
  #overflow(): void {
    if (this.#isOverflowing) return
    this.#isOverflowing = true
    const messages = this.#undelivered.size
    this.#logger.warn({ messages }, 'Too many messages wait for the MQTT broker: further ones are lost')
  }

  async #within(limitMs: number, work: Promise<unknown>): Promise<void> {
    await new Promise<void>(resolve => {
      const timer = this.#clock.setTimer(resolve, limitMs)
      work.finally(() => {
        timer.cancel()
        resolve()
      })
    })
  }
}

function growPauses(client: MqttClient): MqttClient {
  let attempts = 0
  client.on('connect', () => {
    attempts = 0
  })
  // Before mqtt.js's own listener, which starts the pause.
  client.prependListener('close', () => {
    client.options.reconnectPeriod = reconnectDelayMs(attempts++)
  })
  return client
}
