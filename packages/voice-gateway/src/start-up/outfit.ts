import type { Clock, Logger } from 'toolpost'
import type { VoiceConfig } from 'toolpost/config'
import type { AiClient } from 'toolpost/models'
import type { Project } from 'toolpost/project'
import { SAMPLE_RATE, writeWav } from '../audio/wav.ts'
import type { Grammar } from '../messages.ts'
import { findSpeaker, type Speaker } from '../speech-out/speaker.ts'
import { MoonshineTranscriber } from '../speech-to-text/moonshine-transcriber.ts'
import { type Transcriber, TranscriberError } from '../speech-to-text/transcriber.ts'
import { WhisperTranscriber } from '../speech-to-text/whisper-transcriber.ts'

/** How long speech waits for device names while servers are starting; then it is transcribed without them. */
const WAIT_FOR_NAMES_MS = 3_000
const SOUND_CHECK_MS = 3_000
export const NO_VOICE = 'text only: no voice (espeak-ng, piper, say) or no player found on this machine'

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
    const refreshed = names.then(() => sentences.refresh({ executor }))
    await new Promise<void>(resolve => {
      const timer = clock.setTimer(resolve, WAIT_FOR_NAMES_MS)
      refreshed
        .catch(() => {})
        .finally(() => {
          timer.cancel()
          resolve()
        })
    })
    return {
      graph: () => sentences.graph({ executor }),
      understand: (messages, { area } = {}) => sentences.understand(messages, { executor, area }),
    }
  }
}

/** The transcriber: the embedded model, or whisper.cpp if configured. Loads nothing yet. */
export function makeTranscriber({ transcriber, whisper }: VoiceConfig, logger: Logger): Transcriber {
  const isWhisper = transcriber === 'whisper.cpp' || (transcriber === undefined && whisper !== undefined)
  if (!isWhisper)
    return new MoonshineTranscriber({ model: transcriber === 'moonshine-base' ? 'base' : 'tiny', logger })
  if (!whisper) throw new TranscriberError('whisper.cpp needs a model: set voice.whisper.model to its file')
  return new WhisperTranscriber(whisper)
}

/** The configured speaker, or the one this machine has. Rejects with a SpeakerError. */
export function speakerFor(voice: VoiceConfig, outFile?: string): Promise<Speaker | undefined> {
  return findSpeaker({ ...voice, voice: voice.speaker, outFile })
}

/** Plays a moment of silence to check that the player works. Rejects with the reason if it does not. */
export async function soundCheck(speaker: Speaker): Promise<void> {
  try {
    const silence = writeWav(new Float32Array(SAMPLE_RATE / 10))
    await speaker.play(silence, { signal: AbortSignal.timeout(SOUND_CHECK_MS) })
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`text only until this works: ${reason}`, { cause: error })
  }
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
