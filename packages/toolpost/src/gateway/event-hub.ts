import { randomUUID } from 'node:crypto'
import { type Clock, systemClock, type Timer } from '../runtime/clock.ts'
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

/** What a client may see of an event; nothing if it may not see it. */
type View = (type: string, data: unknown) => unknown

interface Client {
  controller: ReadableStreamDefaultController<Uint8Array>
  cut(): void
  view: View | undefined
  /** The number of the last event that it was told of. */
  toldUpTo: number
}

/** Events as they go out to everybody with the same view who was told up to the same one. */
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
  /** The last event that the client saw, if it was here before. */
  lastEventId?: string | undefined
  /** What a client is told that is new, or was away for too long. */
  greeting?: readonly { type: string; data: unknown }[] | undefined
  /** Breaks the connection of a client that does not read; without it the stream fails. */
  cut?: (() => void) | undefined
  /** Everything is seen if left out. */
  view?: View | undefined
}

/**
 * Events for everybody who watches, replayed for those who come back. Events of one moment are written once and sent
 * to all in one piece: to some at a time, and the less often the longer that takes. A client that reads too slowly is cut
 * off, so that it costs nobody else.
 */
export class EventHub<Events extends object = Record<string, unknown>> {
  /** Ids of another run of the program mean nothing here. */
  readonly #run = randomUUID().slice(0, 8)
  readonly #clock: Clock
  readonly #maxWaitingBytes: number
  readonly #clients = new Set<Client>()
  readonly #encoder = new TextEncoder()
  /** The last events: written only when somebody wants them. */
  #events: HubEvent[] = []
  #bytes = 0
  #number = 0
  /** Written lately, by view. */
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

  /** `bytes` is about what the event takes in memory. */
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

  /** Some clients at a time: each takes a system call. Gives how long it took, others that came in between included. */
  async #eachInTurn(tell: (client: Client) => void): Promise<number> {
    const began = this.#clock.now()
    let told = 0
    for (const client of this.#clients) {
      tell(client)
      if (++told % TOLD_AT_ONCE === 0) await nextTurn(this)
    }
    return this.#clock.now() - began
  }

  /** Half of them at once, so that it is seldom; not before everybody was told. */
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
            // What is under way goes to those who are there; the newcomer begins after it.
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

  /** Sends what is left and ends all streams. */
  close(): void {
    this.#flushTimer?.cancel()
    this.#isClosed = true
    for (const client of [...this.#clients]) {
      this.#tellNew(client)
      this.#remove(client)
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

  /** Written once for all who see the same. */
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

  /** What came after an event; `undefined` if that is not known any more. */
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

/** A client that goes away while it is written to. */
function quietly(action: () => void): void {
  try {
    action()
  } catch {
    // Its stream has ended already.
  }
}
