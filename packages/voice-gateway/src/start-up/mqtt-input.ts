import type { BackgroundTranscriber } from '../background-transcriber.ts'
import { withoutCredentials } from '../bus/broker-address.ts'
import { connectMqttBus } from '../bus/mqtt-bus.ts'
import { chooseBroker } from './choose-broker.ts'
import type { VoiceContext } from './start-voice.ts'

/** Takes utterances from MQTT and tells it what becomes of them. A broker that is away is waited for in the background. */
export function startMqtt(context: VoiceContext, transcriber: BackgroundTranscriber): void {
  const { servers, config, parts, buses, closables, logger, clock } = context
  parts.begin('mqtt', async () => {
    await servers.start().catch(() => undefined)
    const broker = chooseBroker(config.voice?.mqtt, servers.home)
    if (!broker) return undefined
    let isAway = (_cause: string) => {}
    const away = new Promise<never>((_, reject) => {
      isAway = cause =>
        reject(new Error(`${withoutCredentials(broker.url)} is tried again and again: ${cause}`))
    })
    const bus = connectMqttBus({
      ...broker,
      logger,
      clock,
      onUtterance: utterance => transcriber.take(utterance),
      onState: state => state.status === 'offline' && isAway(state.cause),
    })
    buses.add(bus)
    closables.push(bus)
    await Promise.race([bus.ready(), away])
    return withoutCredentials(broker.url)
  })
}
