import { type Clock, type Logger, systemClock } from 'toolpost'
import type { VoiceConfig } from 'toolpost/config'
import type { Project } from 'toolpost/project'
import { BackgroundTranscriber } from '../background-transcriber.ts'
import type { VoiceBus } from '../bus/voice-bus.ts'
import type { Decision } from '../listening/decide.ts'
import type { Speaker } from '../speech-out/speaker.ts'
import type { Transcriber } from '../speech-to-text/transcriber.ts'
import { Closables } from './closables.ts'
import { grammarOf } from './grammar-of.ts'
import { hotwordsOf } from './hotwords-of.ts'
import { makeTranscriber } from './make-transcriber.ts'
import { startMicrophone } from './microphone-input.ts'
import { startMqtt } from './mqtt-input.ts'
import { type PartStatus, Parts } from './parts.ts'
import { startSpeech } from './speech-output.ts'
import { missingIn, startTools, tellingOfMissing } from './tools.ts'

/** What the voice gateway uses of a project. */
export type VoiceProject = Pick<
  Project,
  'executor' | 'config' | 'logger' | 'client' | 'model' | 'ready' | 'status' | 'exampleHome'
>

export interface VoiceOptions {
  /** Its tools, its model and its servers, which are started if they are not yet. */
  project: VoiceProject
  /** How to hear and speak, instead of what the project's configuration says. */
  voice?: VoiceConfig | undefined
  /** Told what a person should know: what is missing or has stopped working. It is logged as well. */
  onNotice?: ((notice: string) => void) | undefined
  /** Told when a part came, went or changed. */
  onChange?: (() => void) | undefined
  clock?: Clock | undefined
  /** Instead of those that the configuration names. */
  transcriber?: Transcriber | undefined
  speaker?: Speaker | undefined
  /** Told as well, beside MQTT. */
  bus?: VoiceBus | undefined
  /** A WAV file for what is spoken, instead of a player. */
  outFile?: string | undefined
}

/** What was heard. With `ask`, whoever said it should look at it first. */
export interface Transcription {
  text: string
  free_text?: string
  decision?: Decision
  margin?: number
}

export interface VoiceGateway {
  readonly transcriber: BackgroundTranscriber
  /** Resolves when every part is ready or missing. Never rejects. */
  ready(): Promise<{ parts: PartStatus[]; durationMs: number }>
  /** How the parts are at this moment. */
  status(): PartStatus[]
  /** The words of a recording, or why there are none. Never rejects. */
  transcribe(wav: Uint8Array, options: { signal: AbortSignal }): Promise<Transcription | { problem: string }>
  /** Takes nothing more, lets the answer under way end, for `drainMs` at most, and leaves no process behind. */
  close(options?: { drainMs?: number }): Promise<void>
}

/** What the parts of a gateway are made with. */
export interface VoiceContext extends VoiceOptions {
  voice: VoiceConfig
  logger: Logger
  clock: Clock
  onNotice(notice: string): void
  parts: Parts
  /** Everybody who is told. */
  buses: Set<VoiceBus>
  closables: Closables
}

const NO_SOUND = new Float32Array(0)

/** Starts to listen. MQTT, model, speech and MCP begin side by side; only what needs one of them waits for it. */
export async function startVoice(options: VoiceOptions): Promise<VoiceGateway> {
  const context = contextOf(options)
  const { project, voice, logger, clock, onNotice, parts, buses } = context
  startTools(context)
  parts.begin('model', async () => {
    const { name, why } = await project.model()
    return `${name}: ${why}`
  })
  const hearing = startHearing(context)
  const grammar = grammarOf(project, clock)
  // Compiled, and known to who listens, before somebody speaks.
  void grammar()
    .then(sentences => sentences && hearing.listen?.(NO_SOUND, { graph: sentences.graph() }))
    .catch(() => {})
  const speaker = await startSpeech(context)
  const transcriber = new BackgroundTranscriber({
    transcriber: hearing,
    grammar,
    hotwords: hotwordsOf(project, voice),
    client: tellingOfMissing(project.client, () => missingIn(project.status().servers)),
    executor: project.executor,
    speaker,
    bus: everybody(buses, logger),
    filler: voice.filler,
    logger,
    onNotice,
    clock,
  })
  startMqtt(context, transcriber)
  startMicrophone(context, { transcriber, hearing, speaker })
  return {
    transcriber,
    ready: () => parts.settled(),
    status: () => parts.status(),
    transcribe: (wav, { signal }) => transcribe(wav, transcriber, signal),
    close: drain => close(transcriber, context, drain),
  }
}

function contextOf(options: VoiceOptions): VoiceContext {
  const { project, clock = systemClock, onNotice = () => {}, onChange = () => {} } = options
  const { config, logger } = project
  return {
    ...options,
    voice: options.voice ?? config.voice ?? {},
    logger,
    clock,
    onNotice,
    parts: new Parts({ logger, clock, onChange }),
    buses: new Set(options.bus ? [options.bus] : []),
    closables: new Closables(),
  }
}

function startHearing({ transcriber, voice, logger, parts, closables }: VoiceContext): Transcriber {
  const hearing = transcriber ?? makeTranscriber(voice, logger)
  closables.add(hearing)
  parts.begin('hearing', async () => {
    await hearing.ready()
    return hearing.name
  })
  return hearing
}

/** One that fails keeps nothing from the others. */
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
    // Whoever sends it on cannot be asked here: as it was heard, it is asked about where it is understood.
    return heard.decision === 'ask' ? { ...heard, text: heard.free_text ?? heard.text } : heard
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) }
  }
}

/** The last response is still told: the buses are ended after the conversation. */
async function close(
  transcriber: BackgroundTranscriber,
  { closables }: VoiceContext,
  drain?: { drainMs?: number },
): Promise<void> {
  await transcriber.close(drain)
  await closables.close()
}
