import { type Clock, type Logger, systemClock, type ToolExecutor } from 'toolpost'
import type { ToolpostConfig } from 'toolpost/config'
import type { ServerStatus } from 'toolpost/mcp'
import type { AiClient } from 'toolpost/models'
import { BackgroundTranscriber } from '../background-transcriber.ts'
import type { VoiceBus } from '../bus/voice-bus.ts'
import { understand } from '../conversation/understand.ts'
import type { Speaker } from '../speech-out/speaker.ts'
import type { Transcriber } from '../speech-to-text/transcriber.ts'
import { makeTranscriber } from './make-transcriber.ts'
import { startMicrophone } from './microphone-input.ts'
import { tellingOfMissing } from './missing-servers.ts'
import { startMqtt } from './mqtt-input.ts'
import { type PartStatus, Parts } from './parts.ts'
import { startSpeech } from './speech-output.ts'
import { startTools } from './tools.ts'

export interface VoiceOptions {
  executor: ToolExecutor
  config: ToolpostConfig
  servers: VoiceServers
  /** Answers; one that is still to be chosen lets its questions wait. */
  client: AiClient
  /** What the client is called, once it is chosen. */
  model(): Promise<{ name: string }>
  logger: Logger
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
  /** Takes nothing more, lets the answer under way end, and leaves no process behind. */
  close(): Promise<void>
}

/** A part that has to be ended. */
interface Closable {
  close(): Promise<void>
}

/** What the parts of a gateway are made with. */
export interface VoiceContext extends VoiceOptions {
  clock: Clock
  parts: Parts
  /** Everybody who is told. */
  buses: Set<VoiceBus>
  /** Ended with the gateway, the latest first. */
  closables: Closable[]
}

/** Starts to listen. MQTT, model, speech and MCP begin side by side; only what needs one of them waits for it. */
export async function startVoice(options: VoiceOptions): Promise<VoiceGateway> {
  const { config, logger, clock = systemClock } = options
  const parts = new Parts({ logger, clock })
  const context: VoiceContext = {
    ...options,
    clock,
    parts,
    buses: new Set(options.bus ? [options.bus] : []),
    closables: [],
  }
  const servers = startTools(context)
  parts.begin('model', async () => (await options.model()).name)
  const hearing = startHearing(context)
  const speaker = await startSpeech(context)
  const transcriber = new BackgroundTranscriber({
    transcriber: hearing,
    client: tellingOfMissing(options.client, servers),
    executor: options.executor,
    speaker,
    bus: everybody(context.buses),
    filler: config.voice?.filler,
    logger,
    clock,
  })
  startMqtt(context, transcriber)
  startMicrophone(context, { transcriber, hearing, speaker })
  return {
    transcriber,
    ready: () => parts.settled(),
    status: () => parts.status(),
    transcribe: (wav, { signal }) => transcribe(wav, hearing, signal),
    close: () => close(transcriber, context),
  }
}

function startHearing({ transcriber, config, logger, parts, closables }: VoiceContext): Transcriber {
  const hearing = transcriber ?? makeTranscriber(config.voice ?? {}, logger)
  closables.push(hearing)
  parts.begin('hearing', async () => {
    await hearing.ready()
    return hearing.name
  })
  return hearing
}

function everybody(buses: ReadonlySet<VoiceBus>): VoiceBus {
  return {
    transcription: message => {
      for (const bus of buses) bus.transcription(message)
    },
    response: message => {
      for (const bus of buses) bus.response(message)
    },
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

async function close(transcriber: BackgroundTranscriber, { closables }: VoiceContext): Promise<void> {
  await transcriber.close()
  for (const part of closables.reverse()) await part.close()
}
