import type { Logger } from 'toolpost'

export interface OutgoingMessage {
  readonly topic: string
  readonly payload: string
}

/** Sends a message now; `acknowledged` is called when the broker has it. */
export type Send = (message: OutgoingMessage, acknowledged: () => void) => void

/** So many messages are kept while there is no broker. */
const KEPT_MESSAGES = 1_000
/** So many are on their way at the same time. */
const IN_FLIGHT = 50

/** Messages on their way to the broker, in order. Each is kept until the broker has it. */
export class Outbox {
  readonly #logger: Logger
  #waiting: OutgoingMessage[] = []
  #inFlight: OutgoingMessage[] = []
  #send: Send | undefined
  #isOverflowing = false
  #whenEmpty: (() => void)[] = []

  constructor(logger: Logger) {
    this.#logger = logger
  }

  get size(): number {
    return this.#waiting.length + this.#inFlight.length
  }

  /** Never waits. Where too many are kept, the oldest one goes. */
  add(message: OutgoingMessage): void {
    this.#waiting.push(message)
    if (this.size > KEPT_MESSAGES) this.#dropOldest()
    this.#pump()
  }

  /** There is a connection: what the broker does not have yet is sent. */
  open(send: Send): void {
    this.shut()
    this.#send = send
    this.#pump()
  }

  /** The connection is gone, and with it what was on its way. */
  shut(): void {
    this.#send = undefined
    this.#waiting = [...this.#inFlight, ...this.#waiting]
    this.#inFlight = []
  }

  /** Resolves when the broker has everything. */
  emptied(): Promise<void> {
    return new Promise(resolve => {
      this.#whenEmpty.push(resolve)
      this.#tellIfEmpty()
    })
  }

  #pump(): void {
    const send = this.#send
    while (send && this.#inFlight.length < IN_FLIGHT) {
      const message = this.#waiting.shift()
      if (!message) return
      this.#inFlight.push(message)
      send(message, () => this.#acknowledged(message, send))
    }
  }

  #acknowledged(message: OutgoingMessage, send: Send): void {
    // An answer of a former connection: the message has been sent again since.
    if (send !== this.#send) return
    this.#inFlight = this.#inFlight.filter(other => other !== message)
    this.#pump()
    this.#tellIfEmpty()
  }

  #tellIfEmpty(): void {
    if (this.size > 0) return
    this.#isOverflowing = false
    for (const tell of this.#whenEmpty.splice(0)) tell()
  }

  #dropOldest(): void {
    this.#waiting.shift()
    if (this.#isOverflowing) return
    this.#isOverflowing = true
    this.#logger.warn(
      { kept: KEPT_MESSAGES },
      'too many messages wait for the MQTT broker: the oldest ones are lost',
    )
  }
}
