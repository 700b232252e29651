import type { CallObserver } from '../executor/observers.ts'
import { safeText } from '../logging/safe-value.ts'
import type { DurableChange } from '../project/durable.ts'
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

interface EventsOptions {
  source: GatewaySource
  log: CallLog
  questions: Questions
  /** The open streams of all kinds. */
  streams: Map<unknown, Client>
}

/** Tells subscribers of every call, whatever its origin, and of changes of everything else. */
export function createEvents({ source, log, questions, streams }: EventsOptions) {
  const { executor } = source
  const subscribers = new Map<EventStream, Client>()
  const state = {
    tools: () => ({}),
    servers: () => ({ servers: source.status().servers }),
    approvals: () => ({ approvals: source.approvals?.list() ?? [] }),
    questions: () => ({ questions: questions.list() }),
  }

  function publish<T extends Type>(type: T, data: GatewayEvents[T]): void {
    for (const [stream, client] of [...subscribers]) {
      const text = textFor(client, type, data)
      if (text !== '') stream.write(text)
    }
  }

  const stops: (() => void)[] = []
  const soon = (type: keyof typeof state) => {
    const { soon, stop } = coalesced(() => publish(type, state[type]()))
    stops.push(stop)
    return soon
  }
  const onCall: CallObserver = event => {
    log.note(event)
    if (subscribers.size > 0) publish('call', log.record(event))
  }
  const onProgress = (serial: string, { progress, total, message }: Progress) => {
    const short = typeof message === 'string' && { message: safeText(message, MAX_PROGRESS_MESSAGE) }
    const told = log.noteProgress(serial, { progress, ...(total !== undefined && { total }), ...short })
    if (told) publish('progress', told)
  }
  const onDurable = (change: DurableChange) => {
    if (change.type === 'run') publish('run', shortRun(change.run))
  }
  questions.onChange = soon('questions')
  stops.push(
    executor.observe(onCall, { onProgress }),
    executor.tools.onChange(soon('tools')),
    source.on('server', soon('servers')),
    source.on('approval', soon('approvals')),
    source.on('voice', () => publish('voice', { available: source.voice() !== undefined })),
    source.on('timer', data => publish('timer', data)),
    source.on('durable', onDurable),
  )

  return {
    get clients(): number {
      return subscribers.size
    },

    /** Everything that happens, after what is the case now: servers, open questions, running calls. */
    subscribe(c: RequestContext): Response {
      // Nobody would read or end the stream of a HEAD request.
      if (c.req.method === 'HEAD') return new Response(null, { headers: EVENT_STREAM_HEADERS })
      const { client } = c.env
      if (isFull([...streams.values()], client, MAX_STREAMS)) throw busy('Too many event subscribers')
      const stream = new EventStream(() => {
        streams.delete(stream)
        subscribers.delete(stream)
      }, c.env.outgoing)
      streams.set(stream, client)
      const now = [
        textFor(client, 'servers', state.servers()),
        textFor(client, 'approvals', state.approvals()),
        textFor(client, 'questions', state.questions()),
        ...log.running().map(call => textFor(client, 'call', call)),
      ]
      stream.write(`: connected\n\n${now.join('')}`)
      subscribers.set(stream, client)
      return stream.response
    },

    close(): void {
      for (const stop of stops) stop()
      for (const stream of [...subscribers.keys()]) stream.close()
    },
  }
}
