import { type Clock, type Logger, systemClock, type ToolExecutor } from 'toolpost'
import type { ToolpostConfig } from 'toolpost/config'
import type { ServerStatus } from 'toolpost/mcp'
import type { AiClient } from 'toolpost/models'
import { BackgroundTranscriber } from '../background-transcriber.ts'
import type { VoiceBus } from '../bus/voice-bus.ts'
import { understand } from '../conversation/understand.ts'
import type { Speaker } from '../speech-out/speaker.ts'
import type { Transcriber } from '../speech-to-text/transcriber.ts'
import { Closables } from './closables.ts'
import { makeTranscriber } from './make-transcriber.ts'
import { startMicrophone } from './microphone-input.ts'
import { tellingOfMissing } from './missing-servers.ts'
import { startMqtt } from './mqtt-input.ts'
import { type PartStatus, Parts } from './parts.ts'
import { startSpeech } from './speech-output.ts'
import { missingIn, startTools } from './tools.ts'

export interface VoiceOptions {
  executor: ToolExecutor
  config: ToolpostConfig
  servers: VoiceServers
  /** Answers; one that is still to be chosen lets its questions wait. */
  client: AiClient
  /** What the client is called, once it is chosen. */
  model(): Promise<{ name: string; why: string }>
  logger: Logger
  /** Told what a person should know: what is missing or has stopped working. It is logged as well. */
  onNotice?: ((notice: string) => void) | undefined
  clock?: Clock | undefined
  /** In place of those that the configuration names. */
  transcriber?: Transcriber | undefined
  speaker?: Speaker | undefined
  /** Told as well, beside MQTT. */
  bus?: VoiceBus | undefined
  /** A WAV file for what is spoken, in place of a player. */
  outFile?: string | undefined
}

/** The MCP servers. They are started if they are not yet. */
export interface VoiceServers {
  /** Resolves when they are being started, and their home has an address. */
  start(): Promise<unknown>
  /** Resolves when each is ready or has failed. */
  ready(): Promise<readonly ServerStatus[]>
  status(): readonly ServerStatus[]
  readonly home?: { brokerUrl: string } | undefined
}

export interface VoiceGateway {
  readonly transcriber: BackgroundTranscriber
  /** Resolves when every part is there or cannot be had. Never rejects. */
  ready(): Promise<{ parts: PartStatus[]; durationMs: number }>
  /** How the parts are at this moment. */
  status(): PartStatus[]
  /** The words of a recording, or why there are none. Never rejects. */
  transcribe(
    wav: Uint8Array,
    options: { signal: AbortSignal },
  ): Promise<{ text: string } | { problem: string }>
  /** Takes nothing more, lets the answer under way end, for `drainMs` at most, and leaves no process behind. */
  close(options?: { drainMs?: number }): Promise<void>
}

/** What the parts of a gateway are made with. */
export interface VoiceContext extends VoiceOptions {
  clock: Clock
  onNotice(notice: string): void
  parts: Parts
  /** Everybody who is told. */
  buses: Set<VoiceBus>
  closables: Closables
}

/** Starts to listen. MQTT, model, speech and MCP begin side by side; only what needs one of them waits for it. */
export async function startVoice(options: VoiceOptions): Promise<VoiceGateway> {
  const { config, servers, logger, clock = systemClock, onNotice = () => {} } = options
  const parts = new Parts({ logger, clock })
  const buses = new Set(options.bus ? [options.bus] : [])
  const context: VoiceContext = { ...options, clock, onNotice, parts, buses, closables: new Closables() }
  startTools(context)
  parts.begin('model', async () => {
    const { name, why } = await options.model()
    return `${name}: ${why}`
  })
  const hearing = startHearing(context)
  const speaker = await startSpeech(context)
  const transcriber = new BackgroundTranscriber({
    transcriber: hearing,
    client: tellingOfMissing(options.client, () => missingIn(servers.status())),
    executor: options.executor,
    speaker,
    bus: everybody(buses, logger),
    filler: config.voice?.filler,
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
    transcribe: (wav, { signal }) => transcribe(wav, hearing, signal),
    close: drain => close(transcriber, context, drain),
  }
}

function startHearing({ transcriber, config, logger, parts, closables }: VoiceContext): Transcriber {
  const hearing = transcriber ?? makeTranscriber(config.voice ?? {}, logger)
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
    transcription: message => tell(bus => bus.transcription(message)),
    response: message => tell(bus => bus.response(message)),
  }
}

async function transcribe(
  wav: Uint8Array,
  hearing: Transcriber,
  signal: AbortSignal,
): Promise<{ text: string } | { problem: string }> {
  try {
    const understood = await understand({ wav }, hearing, signal)
    return 'text' in understood ? understood : { problem: understood.dropped }
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
