import { randomUUID } from 'node:crypto'
import { type Clock, systemClock, type Timer } from '../runtime/clock.ts'
import { quietly } from '../runtime/quietly.ts'
import { nextTurn } from '../runtime/turns.ts'
import { commentText, eventText } from './http/event-text.ts'
import {
  EVENT_FLUSH_MS,
  EVENT_SHARE,
  HEARTBEAT_MS,
  MAX_WAITING_BYTES,
  REPLAYED_BYTES,
  REPLAYED_EVENTS,
  TOLD_AT_ONCE,
} from './limits.ts'

interface HubEvent {
  number: number
  type: string
  data: unknown
  bytes: number
}

/** What a client may see of an event; `undefined` if it may not see it. */
type View = (type: string, data: unknown) => unknown

interface Client {
  controller: ReadableStreamDefaultController<Uint8Array>
  cut(): void
  view: View | undefined
  /** The number of the last event sent to it. */
  toldUpTo: number
}

/** Events encoded once for all clients with the same view and the same last event. */
interface Piece {
  after: number
  upTo: number
  bytes: Uint8Array
}

export interface HubOptions {
  clock?: Clock | undefined
  maxWaitingBytes?: number | undefined
}

export interface WatchOptions {
  /** The last event the client saw, if it is reconnecting. */
  lastEventId?: string | undefined
  /** Sent to a client that is new or was away for too long. */
  greeting?: readonly { type: string; data: unknown }[] | undefined
  /** Breaks the connection of a client that does not read; without it, its stream fails. */
  cut?: (() => void) | undefined
  /** Everything is visible if left out. */
  view?: View | undefined
}

/**
 * Sends events to all subscribers and replays them to those who reconnect. Events of one moment are encoded once and
 * sent together, to some clients at a time, and less often the longer that takes. A client that reads too slowly is cut
 * off, so that it does not affect the others.
 */
export class EventHub<Events extends object = Record<string, unknown>> {
  /** Part of every event id, since ids from another run of the program mean nothing here. */
  readonly #run = randomUUID().slice(0, 8)
  readonly #clock: Clock
  readonly #maxWaitingBytes: number
  readonly #clients = new Set<Client>()
  readonly #encoder = new TextEncoder()
  /** The last events, encoded only when needed. */
  #events: HubEvent[] = []
  #bytes = 0
  #number = 0
  /** Recently encoded, by view. */
  readonly #pieces = new Map<View | undefined, Piece>()
  #flushTimer: Timer | undefined
  #isFlushing = false
  #pauseMs = EVENT_FLUSH_MS
  #heartbeat: Timer | undefined
  #isClosed = false

  constructor({ clock = systemClock, maxWaitingBytes = MAX_WAITING_BYTES }: HubOptions = {}) {
    this.#clock = clock
    this.#maxWaitingBytes = maxWaitingBytes
  }

  get clients(): number {
    return this.#clients.size
  }

  /** `bytes` is the approximate size of the event in memory. */
  publish<Type extends keyof Events & string>(type: Type, data: Events[Type], bytes = 200): void {
    this.#events.push({ number: ++this.#number, type, data, bytes })
    this.#bytes += bytes
    if (this.#events.length > 2 * REPLAYED_EVENTS || this.#bytes > REPLAYED_BYTES) this.#forgetOldest()
    if (this.#clients.size > 0) this.#flushSoon()
  }

  #flushSoon(): void {
    if (this.#flushTimer || this.#isFlushing) return
    this.#flushTimer = this.#clock.setTimer(() => void this.#flush(), this.#pauseMs)
    this.#flushTimer.hold(false)
  }

  async #flush(): Promise<void> {
    this.#flushTimer = undefined
    this.#isFlushing = true
    const last = this.#number
    const tookMs = await this.#eachInTurn(client => this.#tellNew(client))
    this.#isFlushing = false
    this.#pieces.clear()
    this.#pauseMs = Math.max(EVENT_FLUSH_MS, tookMs / EVENT_SHARE)
    if (this.#number > last && this.#clients.size > 0) this.#flushSoon()
  }

  /** In batches, since each client takes a system call. Resolves to how long it took, including turns given to others. */
  async #eachInTurn(tell: (client: Client) => void): Promise<number> {
    const began = this.#clock.now()
    let told = 0
    for (const client of this.#clients) {
      tell(client)
      if (++told % TOLD_AT_ONCE === 0) await nextTurn(this)
    }
    return this.#clock.now() - began
  }

  /** Sends what is pending, then drops half of the events, so that this is rarely needed. */
  #forgetOldest(): void {
    for (const client of this.#clients) this.#tellNew(client)
    this.#events = this.#events.slice(Math.ceil(this.#events.length / 2))
    this.#bytes = this.#events.reduce((sum, { bytes }) => sum + bytes, 0)
  }

  /** The stream of a client. */
  watch({ lastEventId, greeting = [], cut, view }: WatchOptions = {}): ReadableStream<Uint8Array> {
    const missed = this.#after(lastEventId)
    const first = missed ? this.#text(missed, view) : this.#greetingText(greeting)
    let client: Client | undefined
    return new ReadableStream<Uint8Array>(
      {
        start: controller => {
          controller.enqueue(this.#encoder.encode(`${commentText('connected')}${first}`))
          if (this.#isClosed) return controller.close()
          client = {
            controller,
            view,
            // Pending events go to those already connected; a new client starts after them.
            toldUpTo: this.#number,
            cut: cut ?? (() => controller.error(new Error('The client reads too slowly'))),
          }
          this.#add(client)
        },
        cancel: () => {
          if (client) this.#remove(client)
        },
      },
      new ByteLengthQueuingStrategy({ highWaterMark: this.#maxWaitingBytes }),
    )
  }

  /** Sends what is pending and ends all streams. */
  close(): void {
    this.#flushTimer?.cancel()
    this.#isClosed = true
    for (const client of [...this.#clients]) {
      this.#tellNew(client)
      this.#remove(client)
      // The stream may already be closed, here and below.
      quietly(() => client.controller.close())
    }
  }

  #add(client: Client): void {
    this.#clients.add(client)
    if (this.#clients.size === 1) this.#beat()
  }

  #remove(client: Client): void {
    if (!this.#clients.delete(client) || this.#clients.size > 0) return
    this.#heartbeat?.cancel()
  }

  #beat(): void {
    this.#heartbeat = this.#clock.setTimer(() => {
      const bytes = this.#encoder.encode(commentText('still here'))
      void this.#eachInTurn(client => this.#send(bytes, client))
      if (this.#clients.size > 0) this.#beat()
    }, HEARTBEAT_MS)
    this.#heartbeat.hold(false)
  }

  #tellNew(client: Client): void {
    if (client.toldUpTo === this.#number) return
    const { bytes } = this.#pieceFor(client)
    client.toldUpTo = this.#number
    if (bytes.length > 0) this.#send(bytes, client)
  }

  /** Encoded once for all clients that see the same. */
  #pieceFor({ view, toldUpTo: after }: Client): Piece {
    const known = this.#pieces.get(view)
    const upTo = this.#number
    if (known?.after === after && known.upTo === upTo) return known
    const bytes = this.#encoder.encode(this.#text(this.#events.slice(after - upTo), view))
    const piece = { after, upTo, bytes }
    this.#pieces.set(view, piece)
    return piece
  }

  #send(bytes: Uint8Array, client: Client): void {
    if ((client.controller.desiredSize ?? 0) > 0) return quietly(() => client.controller.enqueue(bytes))
    this.#remove(client)
    quietly(() => client.cut())
  }

  #text(events: readonly HubEvent[], view: View = (_, data) => data): string {
    return events
      .map(({ type, data, number }) => ({ type, data: view(type, data), id: this.#idOf(number) }))
      .map(({ type, data, id }) => (data === undefined ? '' : eventText(type, data, id)))
      .join('')
  }

  #greetingText(greeting: readonly { type: string; data: unknown }[]): string {
    return greeting.map(({ type, data }) => eventText(type, data, this.#idOf(this.#number))).join('')
  }

  /** The events after the given one; `undefined` if they are no longer known. */
  #after(lastEventId: string | undefined): HubEvent[] | undefined {
    const [run, text = ''] = lastEventId?.split('-') ?? []
    const number = Number(text)
    if (run !== this.#run || !/^\d+$/.test(text) || number > this.#number) return undefined
    const missing = this.#number - number
    return missing <= this.#events.length ? this.#events.slice(this.#events.length - missing) : undefined
  }

  #idOf(number: number): string {
    return `${this.#run}-${number}`
  }
}
