import type { BackgroundTranscriber } from '../background-transcriber.ts'
import { withoutCredentials } from '../bus/broker-address.ts'
import { connectMqttBus } from '../bus/mqtt-bus.ts'
import type { BrokerAccess } from '../bus/mqtt-client.ts'
import { chooseBroker } from './choose-broker.ts'
import type { VoiceContext } from './start-voice.ts'

const PART = 'mqtt'

/** Receives utterances over MQTT and publishes their outcomes. Waits in the background for a broker that is down. */
export function startMqtt(context: VoiceContext, transcriber: BackgroundTranscriber): void {
  const { parts, buses, closables, logger, clock, onNotice } = context
  parts.begin(PART, async () => {
    const broker = await findBroker(context)
    if (!broker || closables.isClosed) return undefined
    const url = withoutCredentials(broker.url)
    const tell = (state: 'ready' | 'missing', text: string) => {
      if (parts.change(PART, state, text))
        onNotice(`MQTT: ${state === 'ready' ? `reconnected to ${text}` : text}`)
    }
    let fail = (_problem: Error) => {}
    const away = new Promise<never>((_, reject) => {
      fail = reject
    })
    const bus = connectMqttBus({
      ...broker,
      logger,
      clock,
      onUtterance: utterance => transcriber.take(utterance),
      onState: state => {
        if (state.status === 'connected') tell('ready', url)
        if (state.status !== 'offline') return
        const problem = `${url} is unreachable; retrying: ${state.cause}`
        tell('missing', problem)
        fail(new Error(problem))
      },
    })
    buses.add(closables.add(bus))
    await Promise.race([bus.ready(), away])
    return url
  })
}

/** The example home has a broker only once started; any other is known immediately. */
async function findBroker({ voice, project }: VoiceContext): Promise<BrokerAccess | undefined> {
  return chooseBroker(voice.mqtt, undefined) ?? chooseBroker(voice.mqtt, await project.exampleHome())
}
