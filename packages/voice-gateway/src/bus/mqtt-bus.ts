import { randomUUID } from 'node:crypto'
import { type Clock, type Logger, systemClock } from 'toolpost'
import { DEFAULT_CONVERSATION, type Utterance } from '../utterance.ts'
import { BrokerConnection, type BusState } from './broker-connection.ts'
import { type Acceptance, Inbox } from './inbox.ts'
import { Outbox } from './outbox.ts'
import type { RefusedMessage } from './read-utterance.ts'
import { RESPONSE_TOPIC, TRANSCRIPTION_TOPIC } from './topics.ts'
import type { ResponseMessage, TranscriptionMessage, VoiceBus } from './voice-bus.ts'

export interface MqttBusOptions {
  /** `mqtt://host:1883`; user and password may stand in it. */
  readonly url: string
  readonly username?: string | undefined
  readonly password?: string | undefined
  /** The same at every start, and nobody else's; `toolpost-voice-<hostname>` where it is left out. */
  readonly clientId?: string | undefined
  readonly logger: Logger
  readonly clock?: Clock | undefined
  /** Somebody said something. What is accepted here is acknowledged to the broker. */
  onUtterance(utterance: Utterance): Acceptance
  onState?: ((state: BusState) => void) | undefined
}

/** What is still to be delivered at the end is waited for this long. */
const DELIVERY_AT_CLOSE_MS = 2_000

/** Connects to a broker in the background. Throws only where the URL is none. */
export function connectMqttBus(options: MqttBusOptions): MqttBus {
  return new MqttBus(options)
}

/** Utterances from MQTT, and what becomes of them to MQTT. A broker that is away is waited for. */
export class MqttBus implements VoiceBus {
  readonly #logger: Logger
  readonly #clock: Clock
  readonly #inbox: Inbox
  readonly #outbox: Outbox
  readonly #connection: BrokerConnection
  readonly #waiting = new Set<{ resolve(): void; reject(error: Error): void }>()
  readonly #onState: (state: BusState) => void
  #closing: Promise<void> | undefined

  constructor(options: MqttBusOptions) {
    const { logger, clock = systemClock, onUtterance, onState = () => {} } = options
    this.#logger = logger
    this.#clock = clock
    this.#onState = onState
    this.#outbox = new Outbox(logger)
    this.#inbox = new Inbox({ logger, clock, onUtterance, onRefused: message => this.#refuse(message) })
    this.#connection = this.#makeConnection({ ...options, clock })
    this.#connection.start()
  }

  get state(): BusState {
    return this.#connection.state
  }

  /** Resolves when it is connected and subscribed, however long that takes; rejects when it is closed before. */
  ready(): Promise<void> {
    if (this.state.status === 'connected') return Promise.resolve()
    if (this.#closing) return Promise.reject(closedError())
    return new Promise((resolve, reject) => this.#waiting.add({ resolve, reject }))
  }

  transcription(message: TranscriptionMessage): void {
    this.#publish(TRANSCRIPTION_TOPIC, message)
  }

  response(message: ResponseMessage): void {
    this.#publish(RESPONSE_TOPIC, message)
  }

  /** Takes nothing more, delivers what is left as far as that is quickly done, and ends the connection. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  #makeConnection(options: MqttBusOptions & { clock: Clock }): BrokerConnection {
    return new BrokerConnection({
      ...options,
      onMessage: delivery => this.#inbox.take(delivery),
      onReleased: messageId => this.#inbox.release(messageId),
      onOpen: (send, isResumed) => {
        if (!isResumed) this.#inbox.forgetDeliveries()
        this.#outbox.open(send)
      },
      onShut: () => {
        this.#inbox.connectionLost()
        this.#outbox.shut()
      },
      onState: state => this.#changed(state),
    })
  }

  async #close(): Promise<void> {
    this.#inbox.close()
    for (const { reject } of this.#waiting) reject(closedError())
    this.#waiting.clear()
    await this.#deliverRest()
    await this.#connection.close()
  }

  async #deliverRest(): Promise<void> {
    const late = new Promise<void>(resolve => {
      const timer = this.#clock.setTimer(resolve, DELIVERY_AT_CLOSE_MS)
      this.#outbox.emptied().then(() => {
        timer.cancel()
        resolve()
      })
    })
    await late
    const { size } = this.#outbox
    if (size > 0) this.#logger.warn({ messages: size }, 'the MQTT broker is not there: messages are lost')
  }

  #changed(state: BusState): void {
    if (state.status === 'connected') {
      for (const { resolve } of this.#waiting) resolve()
      this.#waiting.clear()
    }
    try {
      this.#onState(state)
    } catch (error) {
      this.#logger.error({ error: String(error) }, 'the state of the MQTT connection could not be told')
    }
  }

  #refuse({
    refused,
    id = randomUUID(),
    conversation,
    question,
  }: RefusedMessage & { question: string }): void {
    this.response({
      id,
      conversation: conversation ?? DEFAULT_CONVERSATION,
      outcome: 'dropped',
      question,
      text: '',
      error: refused,
      calls: [],
      durations: { waitMs: 0, totalMs: 0 },
      at: new Date().toISOString(),
    })
  }

  #publish(topic: string, message: object): void {
    try {
      this.#outbox.add({ topic, payload: JSON.stringify(message) })
    } catch (error) {
      this.#logger.error({ topic, error: String(error) }, 'a message could not be published')
    }
  }
}

function closedError(): Error {
  return new Error('the connection to the MQTT broker was closed')
}
