import { randomUUID } from 'node:crypto'
import { type Clock, systemClock, type Timer } from '../runtime/clock.ts'
import { commentText, eventText } from './http/event-text.ts'
import { EVENT_FLUSH_MS, HEARTBEAT_MS, MAX_WAITING_BYTES, REPLAYED_BYTES, REPLAYED_EVENTS } from './limits.ts'

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
 * to all in one piece. A client that reads too slowly is cut off, so that it costs nobody else.
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
  #flushed = 0
  #flushTimer: Timer | undefined
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
    else this.#flushed = this.#number
  }

  #flushSoon(): void {
    if (this.#flushTimer) return
    this.#flushTimer = this.#clock.setTimer(() => this.#flush(), EVENT_FLUSH_MS)
    this.#flushTimer.hold(false)
  }

  /** Half of them at once, so that it is seldom. */
  #forgetOldest(): void {
    this.#flush()
    this.#events = this.#events.slice(Math.ceil(this.#events.length / 2))
    this.#bytes = this.#events.reduce((sum, { bytes }) => sum + bytes, 0)
  }

  /** The stream of a client. */
  watch({ lastEventId, greeting = [], cut, view }: WatchOptions = {}): ReadableStream<Uint8Array> {
    // What is under way goes to those who are there; the newcomer begins after it.
    this.#flush()
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
    this.#flush()
    this.#isClosed = true
    for (const client of [...this.#clients]) {
      this.#remove(client)
      quietly(() => client.controller.close())
    }
  }

  #add(client: Client): void {
    this.#clients.add(client)
    if (this.#clients.size > 1) return
    this.#flushed = this.#number
    this.#beat()
  }

  #remove(client: Client): void {
    if (!this.#clients.delete(client) || this.#clients.size > 0) return
    this.#heartbeat?.cancel()
  }

  #beat(): void {
    this.#heartbeat = this.#clock.setTimer(() => {
      this.#send(commentText('still here'), [...this.#clients])
      if (this.#clients.size > 0) this.#beat()
    }, HEARTBEAT_MS)
    this.#heartbeat.hold(false)
  }

  #flush(): void {
    this.#flushTimer?.cancel()
    this.#flushTimer = undefined
    const fresh = this.#number - this.#flushed
    this.#flushed = this.#number
    if (fresh > 0 && this.#clients.size > 0) this.#sendEvents(this.#events.slice(-fresh))
  }

  /** Written once for all who see the same. */
  #sendEvents(events: readonly HubEvent[]): void {
    const groups = new Map<View | undefined, Client[]>()
    for (const client of this.#clients) {
      const group = groups.get(client.view)
      if (group) group.push(client)
      else groups.set(client.view, [client])
    }
    for (const [view, clients] of groups) this.#send(this.#text(events, view), clients)
  }

  #send(text: string, clients: readonly Client[]): void {
    if (text === '') return
    const bytes = this.#encoder.encode(text)
    for (const client of clients) {
      if ((client.controller.desiredSize ?? 0) > 0) quietly(() => client.controller.enqueue(bytes))
      else this.#cutOff(client)
    }
  }

  #cutOff(client: Client): void {
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
