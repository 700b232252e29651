import { randomUUID } from 'node:crypto'
import { Socket } from 'node:net'
import { hostname } from 'node:os'
import type { MqttClient } from 'mqtt'
import { type Clock, type Logger, systemClock } from 'toolpost'
import {
  DEFAULT_CONVERSATION,
  type QuestionMessage,
  type ResponseMessage,
  type TimerMessage,
  type TranscriptionMessage,
  type Utterance,
  type VoiceBus,
} from '../messages.ts'
import { brokerUrl, withoutCredentials } from './broker-address.ts'
import { AUDIO_TOPIC, type RefusedMessage, readUtterance, TEXT_TOPIC } from './read-utterance.ts'

export interface BrokerAccess {
  /** `mqtt://host:1883`; may contain user and password. */
  readonly url: string
  readonly username?: string | undefined
  readonly password?: string | undefined
  /** Default: `toolpost-voice-<hostname>-<random>`. */
  readonly clientId?: string | undefined
}

/** Whether the broker can be used now. `connected` implies subscribed. */
export type BusState =
  | { readonly status: 'connecting' | 'connected' }
  | { readonly status: 'offline'; readonly cause: string }

export interface MqttBusOptions extends BrokerAccess {
  readonly logger: Logger
  readonly clock?: Clock | undefined
  /** Whether it was accepted, and so will be answered. */
  onUtterance(utterance: Utterance): { accepted: true } | { accepted: false; reason: string }
  onState?: ((state: BusState) => void) | undefined
}

/** A filter with `#` includes the level above it. */
const FILTERS = [`${TEXT_TOPIC}/#`, `${AUDIO_TOPIC}/#`]
const CONNECT_TIMEOUT_MS = 5_000
const KEEPALIVE_S = 15
const RECONNECT_MS = 1_000
const UNSUBSCRIBABLE = 128
const REMEMBERED_IDS = 1_000
/** mqtt.js keeps messages without a limit until the broker has them. */
const MAX_UNDELIVERED = 10_000
const CLOSING = { accepted: false, reason: 'the voice gateway is shutting down' } as const
/** How long closing waits for undelivered messages. */
const CLOSE_MS = 2_000
/** Why the broker refused, by its return code. */
const REFUSALS: Readonly<Record<string, string>> = {
  1: 'it does not support MQTT 3.1.1',
  2: 'client id rejected',
  3: 'server unavailable',
  4: 'wrong user name or password',
  5: 'not authorized: check user name and password',
}

/** Connects to a broker in the background. Throws only if the URL is invalid. */
export function connectMqttBus(options: MqttBusOptions): MqttBus {
  return new MqttBus(options)
}

/**
 * Receives utterances over MQTT and publishes their outcomes. Waits for a broker that is down. Every session is clean: what
 * is said while there is no connection is lost rather than acted on later.
 */
export class MqttBus implements VoiceBus {
  state: BusState = { status: 'connecting' }
  readonly #options: MqttBusOptions
  readonly #opening: Promise<MqttClient>
  readonly #ready: Promise<void>
  #settleReady: { resolve(): void; reject(error: Error): void } | undefined
  readonly #ids = new Set<string>()
  readonly #undelivered = new Set<Promise<unknown>>()
  #failure: string | undefined
  #closing: Promise<void> | undefined

  constructor(options: MqttBusOptions) {
    this.#options = options
    this.#opening = this.#open(brokerUrl(options.url))
    this.#ready = new Promise((resolve, reject) => {
      this.#settleReady = { resolve, reject }
    })
    this.#ready.catch(() => {})
  }

  /** Resolves once connected and subscribed, however long that takes; rejects if closed before. */
  ready(): Promise<void> {
    return this.#ready
  }

  transcription(message: TranscriptionMessage): void {
    this.#publish('voice/transcription', message)
  }

  question(message: QuestionMessage): void {
    this.#publish('voice/question', message)
  }

  timer(message: TimerMessage): void {
    this.#publish('voice/timer', message)
  }

  response(message: ResponseMessage): void {
    this.#publish('voice/response', message)
  }

  /** Refuses new messages, briefly tries to deliver what is left, and ends the connection. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #open(url: string): Promise<MqttClient> {
    const { username, password, clientId } = this.#options
    // Keeps `DEBUG=*` from printing mqtt.js's packets, which include the password.
    if (process.env.DEBUG && !process.env.DEBUG.includes('-mqtt*')) process.env.DEBUG += ',-mqtt*'
    const { connect } = await import('mqtt')
    const client = connect(url, {
      clientId: clientId || `toolpost-voice-${hostname()}-${randomUUID().slice(0, 8)}`,
      ...(username !== undefined && { username }),
      ...(password !== undefined && { password }),
      clean: true,
      resubscribe: false,
      protocolVersion: 4,
      reconnectPeriod: RECONNECT_MS,
      reconnectOnConnackError: true,
      connectTimeout: CONNECT_TIMEOUT_MS,
      keepalive: KEEPALIVE_S,
      timerVariant: 'native',
      log: () => {},
    })
    client.on('message', (topic, payload, { retain }) => this.#take(topic, payload, retain))
    client.on('error', error => {
      this.#failure = explain(error)
    })
    client.on('connect', () => this.#subscribe(client))
    client.on('close', () => {
      if (!this.#closing)
        this.#setState({ status: 'offline', cause: this.#failure ?? 'the connection was closed' })
      this.#failure = undefined
    })
    return client
  }

  #subscribe(client: MqttClient): void {
    // Without Nagle's algorithm, which can hold back a command by 40 ms.
    if (client.stream instanceof Socket) client.stream.setNoDelay(true)
    client.subscribe(FILTERS, { qos: 1 }, (error, granted) => {
      if (!client.connected) return
      if (error || granted?.some(({ qos }) => qos === UNSUBSCRIBABLE)) {
        this.#failure = `it refused the subscription to ${FILTERS.join(' and ')}`
        client.stream.destroy()
      } else this.#setState({ status: 'connected' })
    })
  }

  #take(topic: string, payload: Uint8Array, retain: boolean): void {
    const { logger, onUtterance } = this.#options
    const shown = { topic: topic.slice(0, 100), bytes: payload.length }
    if (retain) return logger.info(shown, 'Ignored a retained message: it may be out of date')
    const read = readUtterance(topic, payload)
    const { id } = read
    if (id !== undefined && this.#ids.has(id))
      return logger.info({ ...shown, id }, 'Ignored a message whose id was already used')
    if ('refused' in read) return this.#refuse(read, read.refused)
    const taken = this.#closing ? CLOSING : onUtterance(read)
    if (!taken.accepted) return this.#refuse(read, taken.reason)
    if (id === undefined) return
    this.#ids.add(id)
    const [oldest] = this.#ids
    if (this.#ids.size > REMEMBERED_IDS && oldest !== undefined) this.#ids.delete(oldest)
  }

  #refuse(message: Utterance | RefusedMessage, reason: string): void {
    const { id, conversation } = message
    this.#options.logger.warn({ reason }, 'Refused a message')
    this.response({
      id: id ?? randomUUID(),
      conversation: conversation ?? DEFAULT_CONVERSATION,
      outcome: 'dropped',
      question: 'text' in message ? message.text : '',
      text: '',
      error: reason,
      calls: [],
      durations: { waitMs: 0, totalMs: 0 },
      at: new Date().toISOString(),
    })
  }

  /** Never waits: mqtt.js keeps each message until the broker has it, across reconnects. */
  #publish(topic: string, message: object): void {
    const { logger } = this.#options
    if (this.#undelivered.size >= MAX_UNDELIVERED)
      return logger.warn({ topic }, 'Too many messages are waiting for the MQTT broker; dropped one')
    const sent = this.#opening
      .then(client => client.publishAsync(topic, JSON.stringify(message), { qos: 1 }))
      .catch(error => logger.error({ topic, error: String(error) }, 'Could not publish a message'))
      .finally(() => this.#undelivered.delete(sent))
    this.#undelivered.add(sent)
  }

  async #close(): Promise<void> {
    this.#settleReady?.reject(new Error('the connection to the MQTT broker was closed'))
    const client = await this.#opening
    const { clock = systemClock } = this.#options
    await new Promise<void>(resolve => {
      const timer = clock.setTimer(resolve, CLOSE_MS)
      void Promise.all(this.#undelivered).finally(() => {
        timer.cancel()
        resolve()
      })
    })
    await client.endAsync(this.#undelivered.size > 0 || !client.connected)
  }

  #setState(state: BusState): void {
    if (JSON.stringify(state) === JSON.stringify(this.state)) return
    this.state = state
    const { logger, url, onState } = this.#options
    const broker = withoutCredentials(url)
    if (state.status === 'offline')
      logger.warn({ broker, cause: state.cause }, 'MQTT broker unreachable; retrying')
    else logger.info({ broker }, 'Connected to the MQTT broker')
    if (state.status === 'connected') this.#settleReady?.resolve()
    onState?.(state)
  }
}

function explain(error: Error & { code?: unknown }): string {
  if (/connack timeout|keepalive timeout/i.test(error.message)) return 'no answer'
  // A refused connection to a host with several addresses has an empty message.
  return REFUSALS[String(error.code)] ?? (error.message || String(error.code ?? error.name))
}
