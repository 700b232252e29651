import { type Clock, type Logger, systemClock } from 'toolpost'
import type { VoiceConfig } from 'toolpost/config'
import type { Project } from 'toolpost/project'
import { BackgroundTranscriber } from '../background-transcriber.ts'
import type { VoiceBus } from '../bus/voice-bus.ts'
import type { Decision } from '../listening/decision.ts'
import type { Speaker } from '../speech-out/speaker.ts'
import type { Transcriber } from '../speech-to-text/transcriber.ts'
import { startMicrophone, startMqtt } from './inputs.ts'
import { grammarOf, makeTranscriber, missingIn, startSpeech, startTools, tellingOfMissing } from './outfit.ts'
import { Closables, type PartStatus, Parts } from './parts.ts'

/** The part of a project that the voice gateway uses. */
export type VoiceProject = Pick<
  Project,
  'executor' | 'config' | 'logger' | 'client' | 'model' | 'ready' | 'status' | 'exampleHome'
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
  /** The current status of the parts. */
  status(): PartStatus[]
  /** The transcript of a recording, or why there is none. Never rejects. */
  transcribe(wav: Uint8Array, options: { signal: AbortSignal }): Promise<Transcription | { problem: string }>
  /** Refuses new utterances, lets the answer in progress finish within `drainMs`, and leaves no process behind. */
  close(options?: { drainMs?: number }): Promise<void>
}

/** What the parts of a gateway share. */
export interface VoiceContext extends VoiceOptions {
  voice: VoiceConfig
  logger: Logger
  clock: Clock
  onNotice(notice: string): void
  parts: Parts
  /** Every bus that receives messages. */
  buses: Set<VoiceBus>
  closables: Closables
}

const NO_SOUND = new Float32Array(0)

/** Starts listening. MQTT, model, speech and MCP start in parallel; only what needs one of them waits for it. */
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
  // Compile the grammar and hand it to the transcriber before anybody speaks.
  void grammar()
    .then(sentences => sentences && hearing.listen?.(NO_SOUND, { graph: sentences.graph() }))
    .catch(() => {})
  const speaker = await startSpeech(context)
  const transcriber = new BackgroundTranscriber({
    transcriber: hearing,
    grammar,
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
    // Nobody can be asked here, so pass on the free transcript: the client that answers it asks.
    return heard.decision === 'ask' ? { ...heard, text: heard.free_text ?? heard.text } : heard
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) }
  }
}

/** Buses are closed after the conversation, so that the last response is still published. */
async function close(
  transcriber: BackgroundTranscriber,
  { closables }: VoiceContext,
  drain?: { drainMs?: number },
): Promise<void> {
  await transcriber.close(drain)
  await closables.close()
}
