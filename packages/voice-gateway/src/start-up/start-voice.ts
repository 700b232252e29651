import { type Clock, systemClock } from 'toolpost'
import type { VoiceConfig } from 'toolpost/config'
import type { ServerStatus } from 'toolpost/mcp'
import type { Project } from 'toolpost/project'
import { listenToMicrophone } from '../audio/microphone.ts'
import { findMicrophone } from '../audio/recorder.ts'
import { BackgroundTranscriber } from '../background-transcriber.ts'
import { withoutCredentials } from '../bus/broker-address.ts'
import { connectMqttBus } from '../bus/mqtt-bus.ts'
import type { Heard } from '../listening/decision.ts'
import type { VoiceBus } from '../messages.ts'
import { findSpeaker, type Speaker } from '../speech-out/speaker.ts'
import { MoonshineTranscriber } from '../speech-to-text/moonshine-transcriber.ts'
import type { Transcriber } from '../speech-to-text/transcriber.ts'
import { grammarOf, makeTranscriber, NO_VOICE, within } from './outfit.ts'
import { type PartStatus, Parts } from './parts.ts'

/** The part of a project that the voice gateway uses. */
export type VoiceProject = Pick<
  Project,
  'executor' | 'config' | 'logger' | 'client' | 'model' | 'ready' | 'status' | 'exampleHome' | 'on'
>

export interface VoiceOptions {
  /** Provides tools, model and servers, which are started if they are not running yet. */
  project: VoiceProject
  /** Overrides the project's voice configuration. */
  voice?: VoiceConfig | undefined
  /** Called with what a person should know: what is missing or has stopped working. Also logged. */
  onNotice?: ((notice: string) => void) | undefined
  /** Called when a part is added, removed or changed. */
  onChange?: (() => void) | undefined
  clock?: Clock | undefined
  /** Overrides the configured one. */
  transcriber?: Transcriber | undefined
  speaker?: Speaker | undefined
  /** Receives the same messages as MQTT. */
  bus?: VoiceBus | undefined
  /** Speech goes to this WAV file instead of a player. */
  outFile?: string | undefined
}

/** What was heard. If `decision` is `ask`, the person should check it first. */
export type Transcription = Omit<Heard, 'meaning'>

export interface VoiceGateway {
  readonly transcriber: BackgroundTranscriber
  /** Resolves when every part is ready or missing. Never rejects. */
  ready(): Promise<{ parts: PartStatus[]; durationMs: number }>
  status(): PartStatus[]
  /** The transcript of a recording, or why there is none. Never rejects. */
  transcribe(wav: Uint8Array, options: { signal: AbortSignal }): Promise<Transcription | { problem: string }>
  /** Refuses new utterances, lets the answer in progress finish within `drainMs`, and leaves no process behind. */
  close(options?: { drainMs?: number }): Promise<void>
}

const FIRST_SOUND_MS = 3_000

/** Starts listening. MQTT, model, speech and MCP start in parallel; only what needs one of them waits for it. */
export async function startVoice(options: VoiceOptions): Promise<VoiceGateway> {
  const { project, clock = systemClock, onNotice = () => {}, outFile } = options
  const { logger, config, executor } = project
  const voice = options.voice ?? config.voice ?? {}
  const parts = new Parts(logger, clock, options.onChange)

  /** The gateway continues without the servers that fail, and says so once. */
  parts.begin('tools', async () => {
    const status = await project.ready()
    const missing = missingIn(status)
    const count = `${executor.tools.getTools().length} tools`
    if (missing.length === 0) return count
    const isAnyReady = status.some(({ state }) => state === 'ready')
    const notice = `Continuing with ${isAnyReady ? 'the available tools' : 'local tools only'}`
    logger.warn({ missing }, notice)
    onNotice(`${notice}: ${missing.join(', ')} unavailable`)
    return `${count}, without ${missing.join(', ')}`
  })
  parts.begin('model', async () => {
    const { name, why } = await project.model()
    return `${name}: ${why}`
  })
  const hearing = parts.own(options.transcriber ?? makeTranscriber(voice, logger))
  parts.begin('hearing', async () => {
    await hearing.ready()
    return hearing.name
  })
  const grammar = grammarOf(project, clock)
  // Compile the grammar and hand it to the transcriber before anybody speaks.
  void grammar()
    .then(sentences => sentences && hearing.listen?.(new Float32Array(0), { graph: sentences.graph() }))
    .catch(() => {})

  const own = { ...voice, voice: voice.speaker, outFile }
  const finding = options.speaker ? Promise.resolve(options.speaker) : findSpeaker(own)
  parts.begin('speech', async () => {
    const found = await finding
    if (found) return found.name
    if (voice.speaker === 'none' || voice.player === 'none') return 'text only, as configured'
    throw new Error(NO_VOICE)
  })
  const found = await finding.catch(() => undefined)
  let sounds = 0
  const speaker = found && {
    name: found.name,
    synthesize: (...sentence: Parameters<Speaker['synthesize']>) => found.synthesize(...sentence),
    play: async (...sound: Parameters<Speaker['play']>) => {
      sounds++
      await found.play(...sound).finally(() => sounds--)
    },
  }

  const buses = new Set(options.bus ? [options.bus] : [])
  const bus: VoiceBus = {
    question: message => buses.forEach(each => void each.question?.(message)),
    timer: message => buses.forEach(each => void each.timer?.(message)),
    transcription: message => buses.forEach(each => void each.transcription(message)),
    response: message => buses.forEach(each => void each.response(message)),
  }
  const transcriber = new BackgroundTranscriber({
    transcriber: hearing,
    grammar,
    client: tellingOfMissing(project),
    executor,
    speaker,
    bus,
    filler: voice.filler,
    logger,
    onNotice,
    clock,
  })
  const stopTimers = project.on('timer', ({ name, text }) => {
    bus.timer?.({ name, text, at: new Date().toISOString() })
    void transcriber.announce(text)
  })

  /** Receives utterances over MQTT and publishes their outcomes. Waits in the background for a broker that is down. */
  parts.begin('mqtt', async () => {
    const broker = await findBroker(voice.mqtt, project)
    if (!broker || parts.isClosed) return undefined
    const url = withoutCredentials(broker.url)
    await new Promise<void>((resolve, reject) => {
      const mqtt = connectMqttBus({
        ...broker,
        logger,
        clock,
        onUtterance: utterance => transcriber.take(utterance),
        onState: state => {
          const problem = state.status === 'offline' && `${url} is unreachable; retrying: ${state.cause}`
          if (parts.change('mqtt', problem ? 'missing' : 'ready', problem || url))
            onNotice(`MQTT: ${problem || `reconnected to ${url}`}`)
          if (problem) reject(new Error(problem))
        },
      })
      buses.add(parts.own(mqtt))
      mqtt.ready().then(resolve, reject)
    })
    return url
  })

  /** Listens to the microphone, if there is one, ignoring what the gateway itself says. */
  const startMicrophone = async () => {
    const microphone = await findMicrophone()
    if ('missing' in microphone) throw new Error(microphone.missing)
    const { command } = microphone
    // The speech detector is part of the embedded model.
    const isEmbedded = hearing instanceof MoonshineTranscriber
    const ears = isEmbedded ? hearing : parts.own(new MoonshineTranscriber({ logger }))
    await ears.ready()
    if (parts.isClosed) return undefined
    const listening = listenToMicrophone({
      command,
      detector: ears.speechDetector(),
      isMuted: () => !voice.bargeIn && sounds > 0,
      onUtterance: pcm => void transcriber.take({ pcm, conversation: 'microphone', overheard: true }),
      onProblem: problem => {
        logger.warn({ problem }, 'Microphone problem')
        onNotice(`Microphone problem: ${problem}`)
      },
      clock,
    })
    // A recorder that opens the device and then sends nothing must not hold up `ready()`.
    const late = new Error(`the recorder sent no sound within ${FIRST_SOUND_MS / 1_000} s`)
    await within(FIRST_SOUND_MS, parts.own(listening).ready, clock, late)
    return command.command
  }
  if (voice.microphone !== false) parts.begin('microphone', startMicrophone)

  return {
    transcriber,
    ready: () => parts.settled(),
    status: () => parts.status(),
    transcribe: async (wav, { signal }) => {
      try {
        const heard = await transcriber.hear({ wav }, { signal })
        if ('dropped' in heard) return { problem: heard.dropped }
        const { meaning: _, ...said } = heard
        // Nobody can be asked here, so pass on the free transcript: the client that answers it asks.
        return said.decision === 'ask' ? { ...said, text: said.free_text ?? said.text } : said
      } catch (error) {
        return { problem: error instanceof Error ? error.message : String(error) }
      }
    },
    close: async drain => {
      stopTimers()
      // Buses are closed after the conversation, so that the last response is still published.
      await transcriber.close(drain)
      await parts.close()
    },
  }
}

/** The names of the servers that have failed or were lost, not of those still starting. */
function missingIn(status: readonly ServerStatus[]): string[] {
  return status.filter(({ state }) => state === 'failed' || state === 'lost').map(({ name }) => name)
}

/** A client that names the missing servers if no tool was called: the question may have been meant for them. */
function tellingOfMissing(project: VoiceProject): VoiceProject['client'] {
  return {
    async ask(prompt, options) {
      const answer = await project.client.ask(prompt, options)
      const names = missingIn(project.status().servers)
      if (answer.iterations > 0 || names.length === 0) return answer
      const notice = `${names.join(' and ')} ${names.length === 1 ? 'is' : 'are'} unavailable right now.`
      return { ...answer, text: `${answer.text} ${notice}` }
    },
  }
}

/** From the configuration, else from the environment, else the example home's, which has one only once started. */
async function findBroker(config: VoiceConfig['mqtt'], project: VoiceProject) {
  if (config?.url) return { ...config, url: config.url }
  const { MQTT_BROKER_URL: url, MQTT_USERNAME: username, MQTT_PASSWORD: password } = process.env
  if (url) return { username, password, ...config, url }
  const home = await project.exampleHome()
  return home && { ...config, url: home.brokerUrl }
}
