import { safeText } from '../logging/safe-value.ts'
import type { TimerEvent } from '../project/timers.ts'
import type { Progress } from '../tools/tool.ts'
import { type Clock, coalesced } from '../util/clock.ts'
import type { GatewayEvents } from './api-types.ts'
import type { Client } from './clients.ts'
import type { GatewayContext } from './context.ts'
import { type App, busy, EVENT_STREAM_HEADERS, EventStream, eventText } from './http.ts'
import {
  EVENT_FLUSH_MS,
  MAX_PENDING_EVENTS,
  MAX_PROGRESS_MESSAGE,
  MAX_STREAMS,
  PROGRESS_TOLD_MS,
} from './limits.ts'
import { shortRun } from './recent-calls.ts'

type Event = { [Type in keyof GatewayEvents]: { type: Type; data: GatewayEvents[Type] } }[keyof GatewayEvents]

/** Sends events to all subscribers; those of one moment together. */
export class EventHub {
  /** With the rights of now. */
  readonly #subscribers = new Map<EventStream, () => Client>()
  #pending: Event[] = []
  #timer: NodeJS.Timeout | undefined

  get clients(): number {
    return this.#subscribers.size
  }

  publish(event: Event): void {
    if (this.#subscribers.size === 0) return
    this.#pending.push(event)
    if (this.#pending.length >= MAX_PENDING_EVENTS) this.#flush()
    else this.#timer ??= setTimeout(() => this.#flush(), EVENT_FLUSH_MS).unref()
  }

  /** Sends the current state, and then every event. */
  subscribe(stream: EventStream, client: () => Client, state: readonly Event[]): void {
    // Pending events go to those already connected.
    this.#flush()
    stream.write(`: connected\n\n${textFor(client(), state)}`)
    this.#subscribers.set(stream, client)
  }

  unsubscribe(stream: EventStream): void {
    this.#subscribers.delete(stream)
  }

  /** Sends what is pending and ends all streams. */
  close(): void {
    this.#flush()
    for (const stream of [...this.#subscribers.keys()]) stream.close()
  }

  #flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const events = this.#pending.splice(0)
    if (events.length === 0) return
    const texts = new Map<Client, string>()
    for (const [stream, client] of [...this.#subscribers]) {
      const reader = client()
      const text = texts.get(reader) ?? textFor(reader, events)
      texts.set(reader, text)
      if (text !== '') stream.write(text)
    }
  }
}

/** The events, as a client may see them. */
function textFor(client: Client, events: readonly Event[]): string {
  const texts = events.map(({ type, data }) => {
    if (type === 'servers') return eventText(type, { servers: client.seenServers(data.servers) })
    if (type === 'approvals') return eventText(type, { approvals: client.seenApprovals(data.approvals) })
    if (type === 'questions')
      return eventText(type, { questions: data.questions.filter(question => client.sees(question)) })
    const isOwn = (type !== 'call' && type !== 'progress' && type !== 'run') || client.sees(data)
    return isOwn && (type !== 'timer' || !client.isNamed) ? eventText(type, data) : ''
  })
  return texts.join('')
}

/** Events whose data is the current state. */
function stateEvents({ source, questions }: GatewayContext) {
  return {
    servers: (): Event => ({ type: 'servers', data: { servers: source.status().servers } }),
    approvals: (): Event => ({ type: 'approvals', data: { approvals: source.approvals?.list() ?? [] } }),
    questions: (): Event => ({ type: 'questions', data: { questions: questions.list() } }),
  }
}

/** Everything that happens, after what is the case now: servers, open questions, running calls. */
export function addEventRoute(app: App, context: GatewayContext): void {
  const { recent, events, clients, streams } = context
  const { servers, approvals, questions } = stateEvents(context)
  app.get('/api/events', c => {
    // Nobody would read or end the stream of a HEAD request.
    if (c.req.method === 'HEAD') return new Response(null, { headers: EVENT_STREAM_HEADERS })
    if (streams.size >= MAX_STREAMS) return busy('Too many event subscribers')
    const { key } = c.env.client
    const running = recent.running().map((data): Event => ({ type: 'call', data }))
    const onEnd = () => {
      streams.delete(stream)
      events.unsubscribe(stream)
    }
    const stream = new EventStream(onEnd, c.env.outgoing)
    streams.add(stream)
    events.subscribe(stream, () => clients.named(key), [servers(), approvals(), questions(), ...running])
    return stream.response
  })
}

/** Publishes every call, whatever its origin, and changes of everything else. */
export function publishEvents(context: GatewayContext, clock: Clock | undefined): (() => void)[] {
  const { executor, source, events, recent } = context
  const { servers, approvals, questions } = stateEvents(context)
  const stops: (() => void)[] = []
  const soon = (tell: () => void, delayMs?: number) => {
    const coalescing = coalesced(tell, clock, delayMs)
    stops.push(coalescing.stop)
    return coalescing.soon
  }
  const latest = new Map<string, Progress>()
  const tellProgress = soon(() => {
    for (const [serial, progress] of latest) {
      const { caller } = recent.noteProgress(serial, progress) ?? {}
      events.publish({
        type: 'progress',
        data: { serial, ...progress, ...(caller !== undefined && { caller }) },
      })
    }
    latest.clear()
  }, PROGRESS_TOLD_MS)
  const onProgress = (serial: string, { progress, total, message }: Progress) => {
    const short = typeof message === 'string' && { message: safeText(message, MAX_PROGRESS_MESSAGE) }
    latest.set(serial, { progress, ...(total !== undefined && { total }), ...short })
    tellProgress()
  }
  const observe = executor.observe(
    event => {
      recent.note(event)
      const record = events.clients > 0 ? recent.get(event.serial) : undefined
      if (record) events.publish({ type: 'call', data: record })
      if (event.result && latest.size > 0) latest.delete(event.serial)
    },
    { onProgress },
  )
  const voice = () => events.publish({ type: 'voice', data: { available: source.voice() !== undefined } })
  const onServer = soon(() => events.publish(servers()))
  const onApproval = soon(() => events.publish(approvals()))
  stops.push(
    observe,
    executor.tools.onChange(soon(() => events.publish({ type: 'tools', data: {} }))),
    source.on('server', onServer),
    source.on('approval', onApproval),
    context.questions.onChange(soon(() => events.publish(questions()))),
    source.on('voice', voice),
    source.on('timer', data => events.publish({ type: 'timer', data: data as TimerEvent })),
    source.onDurable?.(change => {
      if (change.type === 'run') events.publish({ type: 'run', data: shortRun(change.run) })
    }) ?? (() => {}),
  )
  return stops
}
