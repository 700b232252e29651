import { randomUUID } from 'node:crypto'
import { Socket } from 'node:net'
import { hostname } from 'node:os'
import type { MqttClient } from 'mqtt'
import { type Clock, type Logger, systemClock } from 'toolpost'
import { DEFAULT_CONVERSATION, type Utterance, type VoiceBus } from '../messages.ts'
import { brokerUrl, withoutCredentials } from './broker-address.ts'
import { AUDIO_TOPIC, readUtterance, TEXT_TOPIC } from './read-utterance.ts'

interface BrokerAccess {
  /** `mqtt://host:1883`; may contain user and password. */
  readonly url: string
  readonly username?: string | undefined
  readonly password?: string | undefined
  /** Default: `toolpost-voice-<hostname>-<random>`. */
  readonly clientId?: string | undefined
}

/** Whether the broker can be used now. `connected` implies subscribed. */
export type BusState =
  | { readonly status: 'connecting' | 'connected' }
  | { readonly status: 'offline'; readonly cause: string }

export interface MqttBusOptions extends BrokerAccess {
  readonly logger: Logger
  readonly clock?: Clock | undefined
  /** Whether it was accepted, and so will be answered. */
  onUtterance(utterance: Utterance): { accepted: true } | { accepted: false; reason: string }
  onState?: ((state: BusState) => void) | undefined
}

/** A filter with `#` includes the level above it. */
const FILTERS = [`${TEXT_TOPIC}/#`, `${AUDIO_TOPIC}/#`]
const CONNECT_TIMEOUT_MS = 5_000
const KEEPALIVE_S = 15
const RECONNECT_MS = 1_000
const UNSUBSCRIBABLE = 128
const REMEMBERED_IDS = 1_000
/** mqtt.js keeps messages without a limit until the broker has them. */
const MAX_UNDELIVERED = 10_000
/** How long closing waits for undelivered messages. */
const CLOSE_MS = 2_000

/** Receives utterances over MQTT and publishes their outcomes. */
export interface MqttBus extends Required<VoiceBus> {
  /** Resolves once connected and subscribed, however long that takes; rejects if closed before. */
  ready(): Promise<void>
  /** Refuses new messages, briefly tries to deliver what is left, and ends the connection. */
  close(): Promise<void>
}

/**
 * Connects to a broker in the background, and waits for one that is down. Every session is clean: what is said while there
 * is no connection is lost rather than acted on later. Throws only if the URL is invalid.
 */
export function connectMqttBus(options: MqttBusOptions): MqttBus {
  const { logger, clock = systemClock } = options
  let state: BusState = { status: 'connecting' }
  let failure: string | undefined
  let isClosing = false
  const ids = new Set<string>()
  const undelivered = new Set<Promise<unknown>>()
  let settleReady = { resolve: () => {}, reject: (_: Error) => {} }
  const ready = new Promise<void>((resolve, reject) => {
    settleReady = { resolve, reject }
  })
  ready.catch(() => {})

  const setState = (next: BusState) => {
    if (JSON.stringify(next) === JSON.stringify(state)) return
    state = next
    const broker = withoutCredentials(options.url)
    if (state.status === 'offline')
      logger.warn({ broker, cause: state.cause }, 'MQTT broker unreachable; retrying')
    else logger.info({ broker }, 'Connected to the MQTT broker')
    if (state.status === 'connected') settleReady.resolve()
    options.onState?.(state)
  }
  const subscribe = (client: MqttClient) => {
    // Without Nagle's algorithm, which can hold back a command by 40 ms.
    if (client.stream instanceof Socket) client.stream.setNoDelay(true)
    client.subscribe(FILTERS, { qos: 1 }, (error, granted) => {
      if (!client.connected) return
      if (error || granted?.some(({ qos }) => qos === UNSUBSCRIBABLE)) {
        failure = `it refused the subscription to ${FILTERS.join(' and ')}`
        client.stream.destroy()
      } else setState({ status: 'connected' })
    })
  }
  const open = async (url: string): Promise<MqttClient> => {
    const { username, password, clientId } = options
    // Keeps `DEBUG=*` from printing mqtt.js's packets, which include the password.
    if (process.env.DEBUG && !process.env.DEBUG.includes('-mqtt*')) process.env.DEBUG += ',-mqtt*'
    const { connect } = await import('mqtt')
    const client = connect(url, {
      clientId: clientId || `toolpost-voice-${hostname()}-${randomUUID().slice(0, 8)}`,
      ...(username !== undefined && { username }),
      ...(password !== undefined && { password }),
      clean: true,
      resubscribe: false,
      reconnectPeriod: RECONNECT_MS,
      reconnectOnConnackError: true,
      connectTimeout: CONNECT_TIMEOUT_MS,
      keepalive: KEEPALIVE_S,
      timerVariant: 'native',
      log: () => {},
    })
    client.on('message', (topic, payload, { retain }) => take(topic, payload, retain))
    client.on('error', error => {
      // A refused connection to a host with several addresses has an empty message.
      failure = error.message || String(Object(error).code ?? error.name)
    })
    client.on('connect', () => subscribe(client))
    client.on('close', () => {
      if (!isClosing) setState({ status: 'offline', cause: failure ?? 'the connection was closed' })
      failure = undefined
    })
    return client
  }
  const opening = open(brokerUrl(options.url))

  /** Never waits: mqtt.js keeps each message until the broker has it, across reconnects. */
  const publish = (topic: string) => (message: object) => {
    if (undelivered.size >= MAX_UNDELIVERED)
      return logger.warn({ topic }, 'Too many messages are waiting for the MQTT broker; dropped one')
    const sent = opening
      .then(client => client.publishAsync(topic, JSON.stringify(message), { qos: 1 }))
      .catch(error => logger.error({ topic, error: String(error) }, 'Could not publish a message'))
      .finally(() => undelivered.delete(sent))
    undelivered.add(sent)
  }
  const bus: Required<VoiceBus> = {
    transcription: publish('voice/transcription'),
    question: publish('voice/question'),
    timer: publish('voice/timer'),
    response: publish('voice/response'),
  }

  const take = (topic: string, payload: Uint8Array, retain: boolean) => {
    const shown = { topic: topic.slice(0, 100), bytes: payload.length }
    if (retain) return logger.info(shown, 'Ignored a retained message: it may be out of date')
    const read = readUtterance(topic, payload)
    const { id, conversation = DEFAULT_CONVERSATION } = read
    if (id !== undefined && ids.has(id))
      return logger.info({ ...shown, id }, 'Ignored a message whose id was already used')
    const taken = 'refused' in read ? { accepted: false, reason: read.refused } : accept(read)
    if (taken.accepted) return
    const { reason: error } = taken
    logger.warn({ reason: error }, 'Refused a message')
    const question = 'text' in read ? read.text : ''
    const nothing = { outcome: 'dropped' as const, text: '', calls: [], durations: { waitMs: 0, totalMs: 0 } }
    bus.response({
      id: id ?? randomUUID(),
      conversation,
      question,
      ...nothing,
      error,
      at: new Date().toISOString(),
    })
  }
  const accept = (utterance: Utterance) => {
    if (isClosing) return { accepted: false, reason: 'the voice gateway is shutting down' }
    const taken = options.onUtterance(utterance)
    if (taken.accepted && utterance.id !== undefined) ids.add(utterance.id)
    const [oldest = ''] = ids
    if (ids.size > REMEMBERED_IDS) ids.delete(oldest)
    return taken
  }
  const close = async () => {
    isClosing = true
    settleReady.reject(new Error('the connection to the MQTT broker was closed'))
    const client = await opening
    await new Promise<void>(resolve => {
      const timer = clock.setTimer(resolve, CLOSE_MS)
      void Promise.all(undelivered).finally(() => {
        timer.cancel()
        resolve()
      })
    })
    await client.endAsync(undelivered.size > 0 || !client.connected)
  }
  return { ready: () => ready, ...bus, close }
}
