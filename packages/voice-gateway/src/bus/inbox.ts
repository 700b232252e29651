import { createHash } from 'node:crypto'
import type { Clock, Logger } from 'toolpost'
import type { Utterance } from '../utterance.ts'
import { type RefusedMessage, readUtterance } from './read-utterance.ts'
import { RecentKeys } from './recent-keys.ts'

/** A message as delivered by MQTT. */
export interface Delivery {
  readonly topic: string
  readonly payload: Uint8Array
  readonly qos: 0 | 1 | 2
  readonly messageId?: number | undefined
  /** The broker may have sent it before. */
  readonly dup: boolean
  /** An old message, sent because we subscribed, not because somebody spoke. */
  readonly retain: boolean
  /** Its connection is already lost, so the broker will not get the acknowledgement. */
  readonly isLate?: boolean | undefined
}

/** Whether an utterance was accepted, and so will be answered. */
export type Acceptance = { accepted: true } | { accepted: false; reason: string }

export interface InboxOptions {
  readonly logger: Logger
  readonly clock: Clock
  onUtterance(utterance: Utterance): Acceptance
  /** Called to tell the sender that a message was refused. `question` is its text, if it has one. */
  onRefused(message: RefusedMessage & { question: string }): void
}

const REMEMBERED_IDS = 1_000
const REMEMBERED_DELIVERIES = 1_000
/** An acknowledgement sent this shortly before the connection broke may not have arrived. */
const UNCERTAIN_MS = 2_000
const SHOWN_CHARACTERS = 100
const HASHED_BYTES = 64 * 1024

/** Accepts each message once, and reports why it refuses one. No message makes it throw. */
export class Inbox {
  readonly #options: InboxOptions
  readonly #ids = new RecentKeys(REMEMBERED_IDS)
  readonly #deliveries = new RecentKeys(REMEMBERED_DELIVERIES)
  /** Deliveries whose acknowledgement may not have arrived. */
  #uncertain = new Set<string>()
  /** QoS 2 deliveries by message id, which the broker may resend until it releases them. */
  readonly #unreleased = new Map<number, string>()
  #isClosed = false

  constructor(options: InboxOptions) {
    this.#options = options
  }

  /** Once it returns, the message may be acknowledged. */
  take(delivery: Delivery): void {
    const { topic, payload, retain } = delivery
    const shown = { topic: topic.slice(0, SHOWN_CHARACTERS), bytes: payload.length }
    const key = deliveryKey(delivery)
    if (retain) return this.#pass(shown, 'Ignored a retained message: it may be out of date')
    if (this.#isRepeated(delivery, key)) return this.#pass(shown, 'Ignored a duplicate message')
    const read = readUtterance(topic, payload)
    if (read.id !== undefined && this.#ids.has(read.id)) {
      return this.#pass({ ...shown, id: read.id }, 'Ignored a message whose id was already used')
    }
    const reason = 'refused' in read ? read.refused : this.#offer(read)
    if (reason !== undefined) return this.#refuse(read, reason, shown)
    if (read.id !== undefined) this.#ids.add(read.id)
    if (key === undefined) return
    this.#deliveries.add(key, this.#options.clock.now())
    if (delivery.isLate) this.#uncertain.add(key)
    if (delivery.qos === 2 && delivery.messageId) this.#unreleased.set(delivery.messageId, key)
  }

  /** The broker will not resend this message. */
  release(messageId: number): void {
    this.#unreleased.delete(messageId)
  }

  /** The connection was lost, and perhaps the last acknowledgements with it. */
  connectionLost(): void {
    this.#uncertain = new Set(this.#deliveries.since(this.#options.clock.now() - UNCERTAIN_MS))
  }

  /** The broker has no memory of earlier deliveries: its message ids start over. */
  forgetDeliveries(): void {
    this.#deliveries.clear()
    this.#uncertain.clear()
    this.#unreleased.clear()
  }

  /** Refuses everything from now on. */
  close(): void {
    this.#isClosed = true
  }

  /** Not every broker marks duplicates (aedes does not), but all resend under the same message id. */
  #isRepeated({ dup, messageId = 0 }: Delivery, key: string | undefined): boolean {
    if (key === undefined) return false
    const isUncertain = this.#uncertain.delete(key) || this.#unreleased.get(messageId) === key
    return isUncertain || (dup && this.#deliveries.has(key))
  }

  /** The reason if it is refused. */
  #offer(utterance: Utterance): string | undefined {
    if (this.#isClosed) return 'the voice gateway is shutting down'
    try {
      const taken = this.#options.onUtterance(utterance)
      return taken.accepted ? undefined : taken.reason
    } catch (error) {
      this.#options.logger.error({ error: String(error) }, 'Could not accept an utterance')
      return 'the voice gateway could not accept it'
    }
  }

  #refuse(message: Utterance | RefusedMessage, reason: string, shown: object): void {
    const { id, conversation } = message
    this.#options.logger.warn({ ...shown, reason }, 'Refused a message')
    this.#options.onRefused({
      refused: reason,
      id,
      conversation,
      question: 'text' in message ? message.text : '',
    })
  }

  #pass(shown: object, why: string): void {
    this.#options.logger.info(shown, why)
  }
}

/** Undefined at QoS 0, where nothing is ever resent. For a long recording, its beginning and length are enough. */
function deliveryKey({ messageId, topic, payload, qos }: Delivery): string | undefined {
  if (qos === 0) return undefined
  const hash = createHash('sha1').update(payload.subarray(0, HASHED_BYTES)).digest('base64')
  return `${messageId} ${topic} ${payload.length} ${hash}`
}
