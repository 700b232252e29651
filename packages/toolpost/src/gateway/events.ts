import { randomUUID } from 'node:crypto'
import type { CallEvent } from '../executor/observers.ts'
import { safeText } from '../logging/safe-value.ts'
import { type Clock, systemClock, type Timer } from '../runtime/clock.ts'
import { coalesced } from '../runtime/coalesced.ts'
import { quietly } from '../runtime/quietly.ts'
import type { Progress } from '../tools/tool.ts'
import type { GatewayContext } from './context.ts'
import { eventText } from './http.ts'
import {
  EVENT_FLUSH_MS,
  HEARTBEAT_MS,
  MAX_PENDING_EVENTS,
  MAX_PROGRESS_MESSAGE,
  MAX_WAITING_BYTES,
  PROGRESS_TOLD_MS,
} from './limits.ts'
import { shortRun } from './recent-calls.ts'

interface Event {
  type: string
  data: unknown
  id?: string
}

/** What a client may see of an event; `undefined` if it may not see it. */
type View = (type: string, data: unknown) => unknown

interface Subscriber {
  controller: ReadableStreamDefaultController<Uint8Array>
  cut(): void
  view: View | undefined
}

export interface WatchOptions {
  /** The current state, sent first. */
  greeting?: readonly Event[] | undefined
  /** Breaks the connection of a client that does not read; without it, its stream fails. */
  cut?: (() => void) | undefined
  /** Everything is visible if left out. */
  view?: View | undefined
  /** Called when the stream has ended. */
  onEnd?: (() => void) | undefined
}

/**
 * Sends events to all subscribers. Those of one moment are encoded once and sent together. A client that reads too slowly
 * is cut off; one that reconnects is told the current state and the last calls.
 */
export class EventHub<Events extends object = Record<string, unknown>> {
  /** Part of every event id, since ids from another run of the program mean nothing here. */
  readonly #run = randomUUID().slice(0, 8)
  readonly #clock: Clock
  readonly #subscribers = new Set<Subscriber>()
  readonly #encoder = new TextEncoder()
  #pending: Required<Event>[] = []
  #number = 0
  #flushTimer: Timer | undefined
  #heartbeat: Timer | undefined
  #isClosed = false

  constructor({ clock = systemClock }: { clock?: Clock | undefined } = {}) {
    this.#clock = clock
  }

  get clients(): number {
    return this.#subscribers.size
  }

  publish<Type extends keyof Events & string>(type: Type, data: Events[Type]): void {
    if (this.#subscribers.size === 0) return
    this.#pending.push({ type, data, id: `${this.#run}-${++this.#number}` })
    if (this.#pending.length >= MAX_PENDING_EVENTS) this.#flush()
    this.#flushTimer ??= this.#timer(EVENT_FLUSH_MS, () => this.#flush())
  }

  /** The stream of a client. */
  watch({ greeting = [], cut, view, onEnd }: WatchOptions = {}): ReadableStream<Uint8Array> {
    let subscriber: Subscriber | undefined
    return new ReadableStream<Uint8Array>(
      {
        start: controller => {
          const id = `${this.#run}-${this.#number}`
          const first = greeting.map(({ type, data }) => eventText(type, data, id)).join('')
          controller.enqueue(this.#encoder.encode(`: connected\n\n${first}`))
          if (this.#isClosed) return controller.close()
          // Pending events go to those already connected.
          this.#flush()
          subscriber = {
            controller,
            view,
            cut: cut ?? (() => controller.error(new Error('The client reads too slowly'))),
          }
          this.#subscribers.add(subscriber)
          this.#heartbeat ??= this.#timer(HEARTBEAT_MS, () => this.#beat())
        },
        cancel: () => {
          if (subscriber) this.#remove(subscriber)
          onEnd?.()
        },
      },
      new ByteLengthQueuingStrategy({ highWaterMark: MAX_WAITING_BYTES }),
    )
  }

  /** Sends what is pending and ends all streams. */
  close(): void {
    this.#flush()
    this.#heartbeat?.cancel()
    this.#isClosed = true
    // A stream may already be closed, here and below.
    for (const { controller } of this.#subscribers) quietly(() => controller.close())
    this.#subscribers.clear()
  }

  #timer(ms: number, action: () => void): Timer {
    const timer = this.#clock.setTimer(action, ms)
    timer.hold(false)
    return timer
  }

  #flush(): void {
    this.#flushTimer?.cancel()
    this.#flushTimer = undefined
    const events = this.#pending
    this.#pending = []
    if (events.length === 0) return
    const pieces = new Map<View | undefined, Uint8Array>()
    for (const subscriber of this.#subscribers) {
      const { view } = subscriber
      const bytes = pieces.get(view) ?? this.#encoder.encode(textFor(events, view))
      pieces.set(view, bytes)
      if (bytes.length > 0) this.#send(bytes, subscriber)
    }
  }

  #beat(): void {
    const bytes = this.#encoder.encode(': still here\n\n')
    for (const subscriber of this.#subscribers) this.#send(bytes, subscriber)
    this.#heartbeat = this.#subscribers.size > 0 ? this.#timer(HEARTBEAT_MS, () => this.#beat()) : undefined
  }

  #send(bytes: Uint8Array, subscriber: Subscriber): void {
    const { controller, cut } = subscriber
    if ((controller.desiredSize ?? 0) > 0) return quietly(() => controller.enqueue(bytes))
    this.#remove(subscriber)
    quietly(cut)
  }

  #remove(subscriber: Subscriber): void {
    this.#subscribers.delete(subscriber)
    if (this.#subscribers.size > 0) return
    this.#heartbeat?.cancel()
    this.#heartbeat = undefined
  }
}

function textFor(events: readonly Required<Event>[], view: View = (_, data) => data): string {
  return events
    .map(({ type, data, id }) => ({ type, data: view(type, data), id }))
    .map(({ type, data, id }) => (data === undefined ? '' : eventText(type, data, id)))
    .join('')
}

/** Publishes every call, whatever its origin, and changes of tools, servers, approvals, questions, runs and speech. */
export function publishEvents(context: GatewayContext, clock: Clock | undefined): (() => void)[] {
  const { executor, source, events, questions, recent } = context
  const progress = progressEvents(context, clock)
  const servers = coalesced(() => events.publish('servers', { servers: source.status().servers }), clock)
  const approvals = coalesced(
    () => events.publish('approvals', { approvals: source.approvals?.list() ?? [] }),
    clock,
  )
  const asked = coalesced(() => events.publish('questions', { questions: questions.list() }), clock)
  const tools = coalesced(() => events.publish('tools', {}), clock)
  const observer = (event: CallEvent) => {
    recent.note(event)
    const record = events.clients > 0 ? recent.get(event.serial) : undefined
    if (record) events.publish('call', record)
  }
  return [
    executor.observe(observer, { onProgress: progress.note }),
    executor.tools.onChange(tools.soon),
    source.on('server', servers.soon),
    source.on('approval', approvals.soon),
    questions.onChange(asked.soon),
    source.onDurable?.(change => {
      if (change.type === 'run') events.publish('run', shortRun(change.run))
    }) ?? (() => {}),
    source.on('voice', () => events.publish('voice', { available: source.voice() !== undefined })),
    ...[progress, servers, approvals, asked, tools].map(({ stop }) => stop),
  ]
}

/** Publishes the latest progress of each call, not too often. */
function progressEvents({ recent, events }: GatewayContext, clock: Clock | undefined) {
  const pending = new Map<string, Progress>()
  const tellAll = () => {
    for (const [serial, progress] of pending) {
      const record = recent.noteProgress(serial, progress)
      const { caller } = record ?? {}
      if (record) events.publish('progress', { serial, ...progress, ...(caller !== undefined && { caller }) })
    }
    pending.clear()
  }
  const { soon, stop } = coalesced(tellAll, clock, PROGRESS_TOLD_MS)
  const note = (serial: string, { progress, total, message }: Progress) => {
    pending.set(serial, {
      progress,
      ...(total !== undefined && { total }),
      ...(typeof message === 'string' && { message: safeText(message, MAX_PROGRESS_MESSAGE) }),
    })
    soon()
  }
  return { note, stop }
}
