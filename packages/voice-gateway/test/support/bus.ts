import mqtt, { type MqttClient } from 'mqtt'
import { recordingLogger } from 'toolpost/testing'
import { onTestFinished } from 'vitest'
import { type BusState, connectMqttBus, type MqttBusOptions } from '../../src/bus/mqtt-bus.ts'
import type { ResponseMessage, Utterance } from '../../src/messages.ts'

/** A bus that takes everything; what it took, said and logged is kept. */
export function openBus(options: Partial<MqttBusOptions> & { url: string }) {
  const logger = recordingLogger()
  const taken: Utterance[] = []
  const states: BusState[] = []
  const bus = connectMqttBus({
    clientId: 'voice-under-test',
    logger,
    onState: state => states.push(state),
    onUtterance: utterance => {
      taken.push(utterance)
      return { accepted: true }
    },
    ...options,
  })
  onTestFinished(() => bus.close())
  return { bus, taken, states, logger }
}

/** Another client, which comes back by itself. */
export async function openClient(url: string, options: mqtt.IClientOptions = {}): Promise<MqttClient> {
  const client = await mqtt.connectAsync(url, { reconnectPeriod: 20, ...options })
  client.on('error', () => {})
  onTestFinished(() => client.endAsync(true))
  return client
}

/** Everything on a topic, as objects. */
export async function listen(url: string, topic: string, options: mqtt.IClientOptions = {}) {
  const client = await openClient(url, options)
  const heard: { topic: string; body: Partial<ResponseMessage> }[] = []
  client.on('message', (on, payload) => heard.push({ topic: on, body: JSON.parse(payload.toString()) }))
  await client.subscribeAsync(topic, { qos: 1 })
  return { client, heard, ids: () => [...new Set(heard.map(({ body }) => body.id))] }
}

export function responseTo(id: string): ResponseMessage {
  return {
    id,
    conversation: 'home',
    outcome: 'answered',
    question: 'on',
    text: 'The light is on.',
    calls: [],
    durations: { waitMs: 0, totalMs: 1 },
    at: '2026-01-01T00:00:00.000Z',
  }
}
