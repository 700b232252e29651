import { randomUUID } from 'node:crypto'
import { type Clock, type Logger, systemClock } from 'toolpost'
import { DEFAULT_CONVERSATION, type Utterance } from '../utterance.ts'
import { BrokerConnection, type BusState } from './broker-connection.ts'
import { type Acceptance, type Delivery, Inbox } from './inbox.ts'
import { type BrokerAccess, clientSettings } from './mqtt-client.ts'
import { Outbox } from './outbox.ts'
import type { RefusedMessage } from './read-utterance.ts'
import { QUESTION_TOPIC, RESPONSE_TOPIC, TRANSCRIPTION_TOPIC } from './topics.ts'
import type { QuestionMessage, ResponseMessage, TranscriptionMessage, VoiceBus } from './voice-bus.ts'

export interface MqttBusOptions extends BrokerAccess {
  readonly logger: Logger
  readonly clock?: Clock | undefined
  /** Called with each utterance; if accepted, it is acknowledged to the broker. */
  onUtterance(utterance: Utterance): Acceptance
  onState?: ((state: BusState) => void) | undefined
}

/** Connects to a broker in the background. Throws only if the URL is invalid. */
export function connectMqttBus(options: MqttBusOptions): MqttBus {
  return new MqttBus(options)
}

/** Receives utterances over MQTT and publishes their outcomes. Waits for a broker that is down. */
export class MqttBus implements VoiceBus {
  readonly #logger: Logger
  readonly #inbox: Inbox
  readonly #outbox: Outbox
  readonly #connection: BrokerConnection
  readonly #waiting = new Set<{ resolve(): void; reject(error: Error): void }>()
  readonly #onState: (state: BusState) => void
  #closing: Promise<void> | undefined

  constructor(options: MqttBusOptions) {
    const { url, logger, clock = systemClock, onUtterance, onState = () => {} } = options
    const settings = clientSettings(options)
    this.#logger = logger
    this.#onState = onState
    this.#inbox = new Inbox({ logger, clock, onUtterance, onRefused: message => this.#refuse(message) })
    this.#outbox = new Outbox(settings, { logger, clock })
    this.#connection = new BrokerConnection({
      settings,
      url,
      logger,
      clock,
      onMessage: delivery => this.#take(delivery),
      onReleased: messageId => this.#inbox.release(messageId),
      onOpen: isResumed => {
        if (!isResumed) this.#inbox.forgetDeliveries()
      },
      onShut: () => this.#inbox.connectionLost(),
      onState: state => this.#changed(state),
    })
  }

  get state(): BusState {
    return this.#connection.state
  }

  /** Resolves once connected and subscribed, however long that takes; rejects if closed before. */
  ready(): Promise<void> {
    if (this.state.status === 'connected') return Promise.resolve()
    if (this.#closing) return Promise.reject(closedError())
    return new Promise((resolve, reject) => this.#waiting.add({ resolve, reject }))
  }

  transcription(message: TranscriptionMessage): void {
    this.#publish(TRANSCRIPTION_TOPIC, message)
  }

  question(message: QuestionMessage): void {
    this.#publish(QUESTION_TOPIC, message)
  }

  response(message: ResponseMessage): void {
    this.#publish(RESPONSE_TOPIC, message)
  }

  /** Refuses new messages, briefly tries to deliver what is left, and ends the connection. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  /** Every message leads to an outgoing one, so intake waits for room in the outbox and none is lost. */
  async #take(delivery: Delivery): Promise<void> {
    this.#inbox.take(delivery)
    await this.#outbox.room()
  }

  async #close(): Promise<void> {
    this.#inbox.close()
    for (const { reject } of this.#waiting) reject(closedError())
    this.#waiting.clear()
    await this.#outbox.close()
    await this.#connection.close()
  }

  #changed(state: BusState): void {
    if (state.status === 'connected') {
      for (const { resolve } of this.#waiting) resolve()
      this.#waiting.clear()
    }
    try {
      this.#onState(state)
    } catch (error) {
      this.#logger.error({ error: String(error) }, 'An MQTT state listener failed')
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
      this.#outbox.add(topic, JSON.stringify(message))
    } catch (error) {
      this.#logger.error({ topic, error: String(error) }, 'Could not publish a message')
    }
  }
}

function closedError(): Error {
  return new Error('the connection to the MQTT broker was closed')
}
