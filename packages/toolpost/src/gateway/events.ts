import { safeText } from '../logging/safe-value.ts'
import type { TimerEvent } from '../project/timers.ts'
import type { Progress } from '../tools/tool.ts'
import { coalesced } from '../util/clock.ts'
import type { GatewayEvents } from './api-types.ts'
import { type CallLog, shortRun } from './call-log.ts'
import type { Client } from './clients.ts'
import type { GatewaySource } from './context.ts'
import { busy, EVENT_STREAM_HEADERS, EventStream, eventText, isFull, type RequestContext } from './http.ts'
import { MAX_PROGRESS_MESSAGE, MAX_STREAMS } from './limits.ts'
import type { Questions } from './questions.ts'

type Type = keyof GatewayEvents
type Own = { caller?: string | undefined }

const own = <Data extends Own>(data: Data, client: Client) => (client.sees(data) ? data : undefined)
const anyone = <Data>(data: Data) => data

/** What a client sees of an event; `undefined` for nothing. */
const SEEN: { [T in Type]: (data: GatewayEvents[T], client: Client) => GatewayEvents[T] | undefined } = {
  call: own,
  progress: own,
  run: own,
  tools: anyone,
  voice: anyone,
  servers: ({ servers }, client) => ({ servers: client.seenServers(servers) }),
  approvals: ({ approvals }, client) => ({ approvals: client.seenApprovals(approvals) }),
  questions: ({ questions }, client) => ({ questions: questions.filter(each => client.sees(each)) }),
  timer: (data, client) => (client.isNamed ? undefined : data),
}

function textFor<T extends Type>(client: Client, type: T, data: GatewayEvents[T]): string {
  const seen = SEEN[type](data, client)
  return seen === undefined ? '' : eventText(type, seen)
}

export interface EventsOptions {
  source: GatewaySource
  log: CallLog
  questions: Questions
  /** The open streams of all kinds. */
  streams: Map<unknown, Client>
}

/** Tells subscribers of every call, whatever its origin, and of changes of everything else. */
export class Events {
  readonly #options: EventsOptions
  readonly #subscribers = new Map<EventStream, Client>()
  readonly #stops: (() => void)[] = []

  constructor(options: EventsOptions) {
    this.#options = options
    const { source, log, questions } = options
    const { executor } = source
    const soon = <T extends Type>(type: T, data: () => GatewayEvents[T]) => {
      const { soon, stop } = coalesced(() => this.#publish(type, data()))
      this.#stops.push(stop)
      return soon
    }
    const onCall: Parameters<typeof executor.observe>[0] = event => {
      log.note(event)
      if (this.#subscribers.size > 0) this.#publish('call', log.record(event))
    }
    questions.onChange = soon('questions', this.#state.questions)
    this.#stops.push(
      executor.observe(onCall, { onProgress: (...told) => this.#onProgress(...told) }),
      executor.tools.onChange(soon('tools', () => ({}))),
      source.on('server', soon('servers', this.#state.servers)),
      source.on('approval', soon('approvals', this.#state.approvals)),
      source.on('voice', () => this.#publish('voice', { available: source.voice() !== undefined })),
      source.on('timer', data => this.#publish('timer', data as TimerEvent)),
      source.on('durable', change => {
        if (change.type === 'run') this.#publish('run', shortRun(change.run))
      }),
    )
  }

  get clients(): number {
    return this.#subscribers.size
  }

  /** Everything that happens, after what is the case now: servers, open questions, running calls. */
  subscribe(c: RequestContext): Response {
    const { streams, log } = this.#options
    // Nobody would read or end the stream of a HEAD request.
    if (c.req.method === 'HEAD') return new Response(null, { headers: EVENT_STREAM_HEADERS })
    const { client } = c.env
    if (isFull([...streams.values()], client, MAX_STREAMS)) throw busy('Too many event subscribers')
    const stream = new EventStream(() => {
      streams.delete(stream)
      this.#subscribers.delete(stream)
    }, c.env.outgoing)
    streams.set(stream, client)
    const { servers, approvals, questions } = this.#state
    const state = [
      textFor(client, 'servers', servers()),
      textFor(client, 'approvals', approvals()),
      textFor(client, 'questions', questions()),
      ...log.running().map(call => textFor(client, 'call', call)),
    ]
    stream.write(`: connected\n\n${state.join('')}`)
    this.#subscribers.set(stream, client)
    return stream.response
  }

  close(): void {
    for (const stop of this.#stops) stop()
    for (const stream of [...this.#subscribers.keys()]) stream.close()
  }

  readonly #state = {
    servers: () => ({ servers: this.#options.source.status().servers }),
    approvals: () => ({ approvals: this.#options.source.approvals?.list() ?? [] }),
    questions: () => ({ questions: this.#options.questions.list() }),
  }

  #publish<T extends Type>(type: T, data: GatewayEvents[T]): void {
    for (const [stream, client] of [...this.#subscribers]) {
      const text = textFor(client, type, data)
      if (text !== '') stream.write(text)
    }
  }

  #onProgress(serial: string, { progress, total, message }: Progress): void {
    const short = typeof message === 'string' && { message: safeText(message, MAX_PROGRESS_MESSAGE) }
    const told = { progress, ...(total !== undefined && { total }), ...short }
    const event = this.#options.log.noteProgress(serial, told)
    if (event) this.#publish('progress', event)
  }
}
