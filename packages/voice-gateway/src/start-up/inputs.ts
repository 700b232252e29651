import type { Clock } from 'toolpost'
import { listenToMicrophone } from '../audio/microphone.ts'
import { findMicrophone } from '../audio/recorder.ts'
import type { BackgroundTranscriber } from '../background-transcriber.ts'
import { withoutCredentials } from '../bus/broker-address.ts'
import { type BrokerAccess, connectMqttBus } from '../bus/mqtt-bus.ts'
import { MoonshineTranscriber } from '../speech-to-text/moonshine-transcriber.ts'
import type { Transcriber } from '../speech-to-text/transcriber.ts'
import type { WatchedSpeaker } from './outfit.ts'
import type { VoiceContext } from './start-voice.ts'

const FIRST_SOUND_MS = 3_000
const PART = 'mqtt'

interface MicrophoneParts {
  transcriber: BackgroundTranscriber
  hearing: Transcriber
  speaker: WatchedSpeaker | undefined
}

/** Listens to the microphone, if there is one, ignoring what the gateway itself says. */
export function startMicrophone(
  context: VoiceContext,
  { transcriber, hearing, speaker }: MicrophoneParts,
): void {
  const { voice, parts, closables, logger, onNotice, clock } = context
  const { microphone = true, bargeIn = false } = voice
  if (!microphone) return
  parts.begin('microphone', async () => {
    const found = await findMicrophone()
    if ('missing' in found) throw new Error(found.missing)
    const ears = earsOf(hearing, context)
    await ears.ready()
    if (closables.isClosed) return undefined
    const listening = listenToMicrophone({
      command: found.command,
      detector: ears.speechDetector(),
      isMuted: () => !bargeIn && speaker?.isPlaying === true,
      onUtterance: pcm => void transcriber.take({ pcm, conversation: 'microphone', overheard: true }),
      onProblem: problem => {
        logger.warn({ problem }, 'Microphone problem')
        onNotice(`Microphone problem: ${problem}`)
      },
      clock,
    })
    closables.add(listening)
    await firstSound(listening.ready, clock)
    return found.command.command
  })
}

/** A recorder that opens the device and then sends nothing must not hold up `ready()`. */
function firstSound(ready: Promise<void>, clock: Clock): Promise<void> {
  return new Promise((resolve, reject) => {
    const silent = () => reject(new Error(`the recorder sent no sound within ${FIRST_SOUND_MS / 1_000} s`))
    const timer = clock.setTimer(silent, FIRST_SOUND_MS)
    ready.then(resolve, reject).finally(() => timer.cancel())
  })
}

/** The speech detector, which is part of the embedded model. */
function earsOf(hearing: Transcriber, { logger, closables }: VoiceContext): MoonshineTranscriber {
  if (hearing instanceof MoonshineTranscriber) return hearing
  return closables.add(new MoonshineTranscriber({ logger }))
}

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

/** From the configuration, else from the environment, else the example home's, which has one only once started. */
async function findBroker({ voice, project }: VoiceContext): Promise<BrokerAccess | undefined> {
  const { mqtt: config } = voice
  if (config?.url) return { ...config, url: config.url }
  const { MQTT_BROKER_URL: url, MQTT_USERNAME: username, MQTT_PASSWORD: password } = process.env
  if (url) return { username, password, ...config, url }
  const home = await project.exampleHome()
  return home && { ...config, url: home.brokerUrl }
}
