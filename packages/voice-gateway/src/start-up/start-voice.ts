import { type Clock, type Logger, systemClock } from 'toolpost'
import type { VoiceConfig } from 'toolpost/config'
import type { ServerStatus } from 'toolpost/mcp'
import type { Project } from 'toolpost/project'
import { listenToMicrophone } from '../audio/microphone.ts'
import { findMicrophone } from '../audio/recorder.ts'
import { BackgroundTranscriber } from '../background-transcriber.ts'
import { withoutCredentials } from '../bus/broker-address.ts'
import { type BrokerAccess, connectMqttBus } from '../bus/mqtt-bus.ts'
import type { Heard } from '../listening/decision.ts'
import type { VoiceBus } from '../messages.ts'
import type { Speaker } from '../speech-out/speaker.ts'
import { MoonshineTranscriber } from '../speech-to-text/moonshine-transcriber.ts'
import type { Transcriber } from '../speech-to-text/transcriber.ts'
import { grammarOf, makeTranscriber, NO_VOICE, soundCheck, speakerFor, tellingOfMissing } from './outfit.ts'
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
  /** The current status of the parts. */
  status(): PartStatus[]
  /** The transcript of a recording, or why there is none. Never rejects. */
  transcribe(wav: Uint8Array, options: { signal: AbortSignal }): Promise<Transcription | { problem: string }>
  /** Refuses new utterances, lets the answer in progress finish within `drainMs`, and leaves no process behind. */
  close(options?: { drainMs?: number }): Promise<void>
}

/** What the parts of a gateway share. */
interface Context extends VoiceOptions {
  voice: VoiceConfig
  logger: Logger
  clock: Clock
  onNotice(notice: string): void
  parts: Parts
  /** Every bus that receives messages. */
  buses: Set<VoiceBus>
}

const NO_SOUND = new Float32Array(0)
const FIRST_SOUND_MS = 3_000

/** Starts listening. MQTT, model, speech and MCP start in parallel; only what needs one of them waits for it. */
export async function startVoice(options: VoiceOptions): Promise<VoiceGateway> {
  const { project, clock = systemClock, onNotice = () => {}, onChange } = options
  const { logger, config } = project
  const voice = options.voice ?? config.voice ?? {}
  const parts = new Parts({ logger, clock, onChange })
  const buses = new Set(options.bus ? [options.bus] : [])
  const context: Context = { ...options, voice, logger, clock, onNotice, parts, buses }
  startTools(context)
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
    .then(sentences => sentences && hearing.listen?.(NO_SOUND, { graph: sentences.graph() }))
    .catch(() => {})
  const { speaker, isPlaying } = await startSpeech(context)
  const bus = everybody(buses, logger)
  const transcriber = new BackgroundTranscriber({
    transcriber: hearing,
    grammar,
    client: tellingOfMissing(project.client, () => missingIn(project.status().servers)),
    executor: project.executor,
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
  startMqtt(context, transcriber)
  startMicrophone(context, { transcriber, hearing, isPlaying })
  return {
    transcriber,
    ready: () => parts.settled(),
    status: () => parts.status(),
    transcribe: (wav, { signal }) => transcribe(wav, transcriber, signal),
    close: async drain => {
      stopTimers()
      // Buses are closed after the conversation, so that the last response is still published.
      await transcriber.close(drain)
      await parts.close()
    },
  }
}

/** Starts the servers. The gateway continues without those that fail, and says so once. */
function startTools({ project, parts, logger, onNotice }: Context): void {
  parts.begin('tools', async () => {
    const status = await project.ready()
    const missing = missingIn(status)
    const count = `${project.executor.tools.getTools().length} tools`
    if (missing.length === 0) return count
    const isAnyReady = status.some(({ state }) => state === 'ready')
    const notice = `Continuing with ${isAnyReady ? 'the available tools' : 'local tools only'}`
    logger.warn({ missing }, notice)
    onNotice(`${notice}: ${missing.join(', ')} unavailable`)
    return `${count}, without ${missing.join(', ')}`
  })
}

/** The names of the servers that have failed or were lost, not of those still starting. */
function missingIn(status: readonly ServerStatus[]): string[] {
  return status.filter(({ state }) => state === 'failed' || state === 'lost').map(({ name }) => name)
}

/** Starts speech output; resolves with the speaker, if there is one, and with whether it is currently playing. */
async function startSpeech({ voice, outFile, parts, speaker: given }: Context) {
  const found = given ? Promise.resolve(given) : speakerFor(voice, outFile)
  parts.begin('speech', async () => {
    const speaker = await found
    if (speaker && !given && outFile === undefined) await soundCheck(speaker)
    if (speaker) return speaker.name
    if (voice.speaker === 'none' || voice.player === 'none') return 'text only, as configured'
    throw new Error(NO_VOICE)
  })
  const speaker = await found.catch(() => undefined)
  let sounds = 0
  const play: Speaker['play'] = async (wav, options) => {
    sounds++
    await speaker?.play(wav, options).finally(() => sounds--)
  }
  const watched = speaker && {
    name: speaker.name,
    synthesize: (...sentence: Parameters<Speaker['synthesize']>) => speaker.synthesize(...sentence),
    play,
  }
  return { speaker: watched, isPlaying: () => sounds > 0 }
}

interface MicrophoneParts {
  transcriber: BackgroundTranscriber
  hearing: Transcriber
  isPlaying(): boolean
}

/** Listens to the microphone, if there is one, ignoring what the gateway itself says. */
function startMicrophone(context: Context, { transcriber, hearing, isPlaying }: MicrophoneParts): void {
  const { voice, parts, logger, onNotice, clock } = context
  const { microphone = true, bargeIn = false } = voice
  if (!microphone) return
  parts.begin('microphone', async () => {
    const found = await findMicrophone()
    if ('missing' in found) throw new Error(found.missing)
    // The speech detector is part of the embedded model.
    const isEmbedded = hearing instanceof MoonshineTranscriber
    const ears = isEmbedded ? hearing : parts.own(new MoonshineTranscriber({ logger }))
    await ears.ready()
    if (parts.isClosed) return undefined
    const listening = parts.own(
      listenToMicrophone({
        command: found.command,
        detector: ears.speechDetector(),
        isMuted: () => !bargeIn && isPlaying(),
        onUtterance: pcm => void transcriber.take({ pcm, conversation: 'microphone', overheard: true }),
        onProblem: problem => {
          logger.warn({ problem }, 'Microphone problem')
          onNotice(`Microphone problem: ${problem}`)
        },
        clock,
      }),
    )
    // A recorder that opens the device and then sends nothing must not hold up `ready()`.
    await new Promise<void>((resolve, reject) => {
      const silent = () => reject(new Error(`the recorder sent no sound within ${FIRST_SOUND_MS / 1_000} s`))
      const timer = clock.setTimer(silent, FIRST_SOUND_MS)
      listening.ready.then(resolve, reject).finally(() => timer.cancel())
    })
    return found.command.command
  })
}

/** Receives utterances over MQTT and publishes their outcomes. Waits in the background for a broker that is down. */
function startMqtt(context: Context, transcriber: BackgroundTranscriber): void {
  const { parts, buses, logger, clock, onNotice } = context
  parts.begin('mqtt', async () => {
    const broker = await findBroker(context)
    if (!broker || parts.isClosed) return undefined
    const url = withoutCredentials(broker.url)
    const tell = (state: 'ready' | 'missing', text: string) => {
      if (parts.change('mqtt', state, text))
        onNotice(`MQTT: ${state === 'ready' ? `reconnected to ${text}` : text}`)
    }
    await new Promise<void>((resolve, reject) => {
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
          reject(new Error(problem))
        },
      })
      buses.add(parts.own(bus))
      bus.ready().then(resolve, reject)
    })
    return url
  })
}

/** From the configuration, else from the environment, else the example home's, which has one only once started. */
async function findBroker({ voice, project }: Context): Promise<BrokerAccess | undefined> {
  const { mqtt: config } = voice
  if (config?.url) return { ...config, url: config.url }
  const { MQTT_BROKER_URL: url, MQTT_USERNAME: username, MQTT_PASSWORD: password } = process.env
  if (url) return { username, password, ...config, url }
  const home = await project.exampleHome()
  return home && { ...config, url: home.brokerUrl }
}

/** A failing bus does not affect the others. */
function everybody(buses: ReadonlySet<VoiceBus>, logger: Logger): VoiceBus {
  const tell = (publish: (bus: VoiceBus) => void) => {
    for (const bus of buses) {
      try {
        publish(bus)
      } catch (error) {
        logger.error({ error: String(error) }, 'A bus failed')
      }
    }
  }
  return {
    question: message => tell(bus => bus.question?.(message)),
    timer: message => tell(bus => bus.timer?.(message)),
    transcription: message => tell(bus => bus.transcription(message)),
    response: message => tell(bus => bus.response(message)),
  }
}

async function transcribe(
  wav: Uint8Array,
  transcriber: BackgroundTranscriber,
  signal: AbortSignal,
): Promise<Transcription | { problem: string }> {
  try {
    const heard = await transcriber.hear({ wav }, { signal })
    if (!('text' in heard)) return { problem: heard.dropped }
    const { meaning: _, ...said } = heard
    // Nobody can be asked here, so pass on the free transcript: the client that answers it asks.
    return said.decision === 'ask' ? { ...said, text: said.free_text ?? said.text } : said
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) }
  }
}
