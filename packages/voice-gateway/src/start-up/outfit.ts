import type { Clock, Logger } from 'toolpost'
import type { VoiceConfig } from 'toolpost/config'
import type { ServerStatus } from 'toolpost/mcp'
import type { Project } from 'toolpost/project'
import { SAMPLE_RATE } from '../audio/samples.ts'
import { writeWav } from '../audio/wav.ts'
import type { AiClient, Grammar } from '../sentences.ts'
import { findSpeaker } from '../speech-out/find-speaker.ts'
import type { Speaker } from '../speech-out/speaker.ts'
import { MoonshineTranscriber } from '../speech-to-text/moonshine-transcriber.ts'
import { type Transcriber, TranscriberError } from '../speech-to-text/transcriber.ts'
import { WhisperTranscriber } from '../speech-to-text/whisper-transcriber.ts'
import type { VoiceContext } from './start-voice.ts'

/** How long speech waits for device names while servers are starting; then it is transcribed without them. */
const WAIT_FOR_NAMES_MS = 3_000

/**
 * The sentences that a project understands without a model, with device names as soon as those are known; undefined if
 * everything goes to a model.
 */
export function grammarOf(
  project: Pick<Project, 'model' | 'ready' | 'executor'>,
  clock: Clock,
): () => Promise<Grammar | undefined> {
  let names: Promise<unknown> | undefined
  return async () => {
    const { sentences } = await project.model()
    if (!sentences) return undefined
    const { executor } = project
    await sentences.load()
    names ??= project.ready()
    await inTime(
      names.then(() => sentences.refresh({ executor })),
      clock,
    )
    return {
      graph: () => sentences.graph({ executor }),
      understand: messages => sentences.understand(messages, { executor }),
    }
  }
}

function inTime(work: Promise<unknown>, clock: Clock): Promise<void> {
  return new Promise(resolve => {
    const timer = clock.setTimer(resolve, WAIT_FOR_NAMES_MS)
    const end = () => {
      timer.cancel()
      resolve()
    }
    work.then(end, end)
  })
}

/** The transcriber: the embedded model, or whisper.cpp if configured. Loads nothing yet. */
export function makeTranscriber({ transcriber, whisper }: VoiceConfig, logger: Logger): Transcriber {
  const isWhisper = transcriber === 'whisper.cpp' || (transcriber === undefined && whisper !== undefined)
  if (!isWhisper)
    return new MoonshineTranscriber({ model: transcriber === 'moonshine-base' ? 'base' : 'tiny', logger })
  if (!whisper) throw new TranscriberError('whisper.cpp needs a model: set voice.whisper.model to its file')
  return new WhisperTranscriber(whisper)
}

const SOUND_CHECK_MS = 3_000
export const NO_VOICE = 'text only: no voice (espeak-ng, piper, say) or no player found on this machine'

/** The configured speaker, or the one this machine has. Rejects with a SpeakerError. */
export function speakerFor(
  { speaker: voice, piperModel, language, player }: VoiceConfig,
  outFile?: string,
): Promise<Speaker | undefined> {
  return findSpeaker({ voice, piperModel, language, player, outFile })
}

/** Starts speech output; resolves with the speaker, if there is one. */
export async function startSpeech(context: VoiceContext): Promise<WatchedSpeaker | undefined> {
  const { voice, outFile, parts } = context
  const found = context.speaker ? Promise.resolve(context.speaker) : speakerFor(voice, outFile)
  parts.begin('speech', async () => {
    const speaker = await found
    if (!speaker) return silence(voice)
    if (!context.speaker && outFile === undefined) await soundCheck(speaker)
    return speaker.name
  })
  const speaker = await found.catch(() => undefined)
  return speaker && watchedSpeaker(speaker)
}

/** Plays a moment of silence to check that the player works. Rejects with the reason if it does not. */
async function soundCheck(speaker: Speaker): Promise<void> {
  const signal = AbortSignal.timeout(SOUND_CHECK_MS)
  try {
    await speaker.play(writeWav(new Float32Array(SAMPLE_RATE / 10)), { signal })
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`text only until this works: ${reason}`, { cause: error })
  }
}

/** Why nothing is spoken. Throws if it was not configured that way. */
function silence({ speaker, player }: VoiceConfig): string {
  if (speaker === 'none' || player === 'none') return 'text only, as configured'
  throw new Error(NO_VOICE)
}

/** A speaker that knows whether it is currently playing. */
export interface WatchedSpeaker extends Speaker {
  readonly isPlaying: boolean
}

function watchedSpeaker(speaker: Speaker): WatchedSpeaker {
  let sounds = 0
  return {
    get name() {
      return speaker.name
    },
    get isPlaying() {
      return sounds > 0
    },
    synthesize: (sentence, options) => speaker.synthesize(sentence, options),
    async play(wav, options) {
      sounds++
      try {
        await speaker.play(wav, options)
      } finally {
        sounds--
      }
    },
  }
}

/** Starts the servers. The gateway continues without those that fail, and says so once. */
export function startTools({ project, parts, logger, onNotice }: VoiceContext): void {
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
export function missingIn(status: readonly ServerStatus[]): string[] {
  return status.filter(({ state }) => state === 'failed' || state === 'lost').map(({ name }) => name)
}

/** A client that names the missing servers if no tool was called: the question may have been meant for them. */
export function tellingOfMissing(client: AiClient, missing: () => readonly string[]): AiClient {
  return {
    async ask(prompt, options) {
      const answer = await client.ask(prompt, options)
      const names = missing()
      if (answer.iterations > 0 || names.length === 0) return answer
      const notice = `${names.join(' and ')} ${names.length === 1 ? 'is' : 'are'} unavailable right now.`
      return { ...answer, text: `${answer.text} ${notice}` }
    },
  }
}
