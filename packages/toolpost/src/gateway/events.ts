import { randomUUID } from 'node:crypto'
import type { CallEvent } from '../executor/observers.ts'
import { safeText } from '../logging/safe-value.ts'
import type { Progress } from '../tools/tool.ts'
import { type Clock, coalesced, systemClock, type Timer } from '../util/clock.ts'
import type { GatewayEvents } from './api-types.ts'
import type { Client } from './clients.ts'
import type { GatewayContext } from './context.ts'
import { type App, busy, EVENT_STREAM_HEADERS, EventStream, eventText, headerOf } from './http.ts'
import {
  EVENT_FLUSH_MS,
  GREETING_CALLS,
  MAX_PENDING_EVENTS,
  MAX_PROGRESS_MESSAGE,
  PROGRESS_TOLD_MS,
} from './limits.ts'
import { shortRun } from './recent-calls.ts'

type Event = { [Type in keyof GatewayEvents]: { type: Type; data: GatewayEvents[Type] } }[keyof GatewayEvents]

interface Subscriber {
  stream: EventStream
  /** With the rights of now. */
  client(): Client
}

/** Sends events to all subscribers; those of one moment together. */
export class EventHub {
  /** Part of every event id, since ids from another run of the program mean nothing here. */
  readonly #run = randomUUID().slice(0, 8)
  readonly #clock: Clock
  readonly #subscribers = new Set<Subscriber>()
  #pending: (Event & { id: string })[] = []
  #number = 0
  #timer: Timer | undefined

  constructor(clock: Clock = systemClock) {
    this.#clock = clock
  }

  get clients(): number {
    return this.#subscribers.size
  }

  publish(event: Event): void {
    if (this.#subscribers.size === 0) return
    this.#pending.push({ ...event, id: `${this.#run}-${++this.#number}` })
    if (this.#pending.length >= MAX_PENDING_EVENTS) return this.#flush()
    if (this.#timer) return
    this.#timer = this.#clock.setTimer(() => this.#flush(), EVENT_FLUSH_MS)
    this.#timer.hold(false)
  }

  /** Sends the current state, then every event, until the returned function is called. */
  subscribe(subscriber: Subscriber, state: readonly Event[]): () => void {
    // Pending events go to those already connected.
    this.#flush()
    const id = `${this.#run}-${this.#number}`
    const client = subscriber.client()
    const seen = state.map(event => eventFor(client, event)).filter(event => event !== undefined)
    const first = seen.map(({ type, data }) => eventText(type, data, id)).join('')
    subscriber.stream.write(`: connected\n\n${first}`)
    this.#subscribers.add(subscriber)
    return () => this.#subscribers.delete(subscriber)
  }

  /** Sends what is pending and ends all streams. */
  close(): void {
    this.#flush()
    for (const { stream } of [...this.#subscribers]) stream.close()
  }

  #flush(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    const events = this.#pending.splice(0)
    if (events.length === 0) return
    const texts = new Map<Client, string>()
    for (const { stream, client } of [...this.#subscribers]) {
      const reader = client()
      const text = texts.get(reader) ?? textFor(reader, events)
      texts.set(reader, text)
      if (text !== '') stream.write(text)
    }
  }
}

function textFor(client: Client, events: readonly (Event & { id: string })[]): string {
  const texts = events.map(event => {
    const seen = eventFor(client, event)
    return seen ? eventText(seen.type, seen.data, event.id) : ''
  })
  return texts.join('')
}

/** An event as a client may see it; `undefined` if it may not. */
function eventFor(client: Client, event: Event): Event | undefined {
  const { type, data } = event
  if (type === 'call' || type === 'progress' || type === 'run') return client.sees(data) ? event : undefined
  if (type === 'timer') return client.isNamed ? undefined : event
  if (type === 'servers') return { type, data: { servers: client.seenServers(data.servers) } }
  if (type === 'approvals') return { type, data: { approvals: client.seenApprovals(data.approvals) } }
  if (type === 'questions')
    return { type, data: { questions: data.questions.filter(question => client.sees(question)) } }
  return event
}

/** The events of everything that happens. A client that was here before also gets the last calls. */
export function addEventRoute(app: App, context: GatewayContext): void {
  const { source, recent, questions, events, clients, streams } = context
  app.get('/api/events', c => {
    // Nobody would read or end the stream of a HEAD request.
    if (c.req.method === 'HEAD') return new Response(null, { headers: EVENT_STREAM_HEADERS })
    if (streams.areFull) return busy('Too many event subscribers')
    const { key } = c.get('client')
    const wasHere = headerOf(c, 'last-event-id') !== undefined
    const state: Event[] = [
      { type: 'servers', data: { servers: source.status().servers } },
      { type: 'approvals', data: { approvals: source.approvals?.list() ?? [] } },
      { type: 'questions', data: { questions: questions.list() } },
      ...(wasHere ? [{ type: 'tools' as const, data: {} }] : []),
      ...(wasHere ? recent.list().slice(-GREETING_CALLS) : []).map(data => ({ type: 'call' as const, data })),
    ]
    const stops = [streams.add()]
    const onEnd = () => {
      for (const stop of stops) stop()
    }
    const stream = new EventStream({ onEnd, outgoing: c.env?.outgoing })
    stops.push(events.subscribe({ stream, client: () => clients.named(key) }, state))
    return stream.response
  })
}

/** Publishes every call, whatever its origin, and changes of tools, servers, approvals, questions, runs and speech. */
export function publishEvents(context: GatewayContext, clock: Clock | undefined): (() => void)[] {
  const { executor, source, events, questions, recent } = context
  const stops: (() => void)[] = []
  const soon = (event: () => Event) => {
    const coalescing = coalesced(() => events.publish(event()), clock)
    stops.push(coalescing.stop)
    return coalescing.soon
  }
  const latest = new Map<string, Progress>()
  const progress = coalesced(
    () => {
      for (const [serial, each] of latest) {
        const { caller } = recent.noteProgress(serial, each) ?? {}
        events.publish({
          type: 'progress',
          data: { serial, ...each, ...(caller !== undefined && { caller }) },
        })
      }
      latest.clear()
    },
    clock,
    PROGRESS_TOLD_MS,
  )
  const onProgress = (serial: string, { progress: done, total, message }: Progress) => {
    latest.set(serial, {
      progress: done,
      ...(total !== undefined && { total }),
      ...(typeof message === 'string' && { message: safeText(message, MAX_PROGRESS_MESSAGE) }),
    })
    progress.soon()
  }
  const observer = (event: CallEvent) => {
    recent.note(event)
    const record = events.clients > 0 ? recent.get(event.serial) : undefined
    if (record) events.publish({ type: 'call', data: record })
    if (event.result) latest.delete(event.serial)
  }
  stops.push(
    progress.stop,
    executor.observe(observer, { onProgress }),
    executor.tools.onChange(soon(() => ({ type: 'tools', data: {} }))),
    source.on(
      'server',
      soon(() => ({ type: 'servers', data: { servers: source.status().servers } })),
    ),
    source.on(
      'approval',
      soon(() => ({ type: 'approvals', data: { approvals: source.approvals?.list() ?? [] } })),
    ),
    questions.onChange(soon(() => ({ type: 'questions', data: { questions: questions.list() } }))),
    source.on('voice', () =>
      events.publish({ type: 'voice', data: { available: source.voice() !== undefined } }),
    ),
    source.onTimer?.(data => events.publish({ type: 'timer', data })) ?? (() => {}),
    source.onDurable?.(change => {
      if (change.type === 'run') events.publish({ type: 'run', data: shortRun(change.run) })
    }) ?? (() => {}),
  )
  return stops
}
