import { randomUUID } from 'node:crypto'
import type { MqttClient } from 'mqtt'
import type { Clock, Logger } from 'toolpost'
import { type ClientSettings, connectClient, reconnectDelayMs } from './mqtt-client.ts'

/** mqtt.js queues messages without a limit until the broker has them. */
const MAX_MESSAGES = 1_000
const MAX_BYTES = 32 * 1024 * 1024
/** Below this there is room for the answers to everything accepted so far. */
const ROOMY_MESSAGES = 500
/** How long closing waits for undelivered messages. */
const DELIVERY_AT_CLOSE_MS = 2_000
const FAREWELL_MS = 1_000

/**
 * Messages on their way to the broker: mqtt.js keeps each until the broker has it, across reconnects. It uses a separate
 * connection, so that incoming messages can wait for room here while acknowledgements still come in.
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
    // A throwaway id: what is unsent is kept here, not at the broker.
    this.#settings = { ...settings, clientId: `${settings.clientId}-${randomUUID().slice(0, 8)}` }
  }

  /** Never waits. If too many are already waiting, the message is dropped. */
  add(topic: string, payload: string): void {
    if (this.#undelivered.size >= MAX_MESSAGES || this.#bytes > MAX_BYTES) return this.#overflow()
    this.#bytes += payload.length
    this.#client ??= connectClient(this.#settings).then(growPauses)
    const sent = this.#send(topic, payload).finally(() => this.#delivered(sent, payload))
    this.#undelivered.add(sent)
  }

  /** Resolves when there is room for the answer to another message. */
  room(): Promise<void> {
    return new Promise(resolve => {
      this.#whenRoomy.push(resolve)
      this.#tellIfRoomy()
    })
  }

  /** Briefly tries to deliver what is left. */
  async close(): Promise<void> {
    await this.#within(DELIVERY_AT_CLOSE_MS, Promise.allSettled(this.#undelivered))
    const messages = this.#undelivered.size
    if (messages > 0)
      this.#logger.warn({ messages }, 'MQTT broker unreachable; dropping undelivered messages')
    const client = await this.#client
    if (!client) return
    await this.#within(FAREWELL_MS, client.endAsync(messages > 0 || !client.connected))
    client.stream.destroy()
  }

  /** mqtt.js drops a message published while it resends older ones if the connection breaks then, so we publish it again. */
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

  /** Logged once, until everything has been delivered. */
  #overflow(): void {
    if (this.#isOverflowing) return
    this.#isOverflowing = true
    const messages = this.#undelivered.size
    this.#logger.warn({ messages }, 'Too many messages are waiting for the MQTT broker; dropping new ones')
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
  // Runs before mqtt.js's own listener, which starts the pause.
  client.prependListener('close', () => {
    client.options.reconnectPeriod = reconnectDelayMs(attempts++)
  })
  return client
}
