import type { VoiceConfig } from 'toolpost/config'
import { SAMPLE_RATE } from '../audio/samples.ts'
import { writeWav } from '../audio/write-wav.ts'
import { findSpeaker } from '../speech-out/find-speaker.ts'
import type { Speaker } from '../speech-out/speaker.ts'
import type { VoiceContext } from './start-voice.ts'
import { type WatchedSpeaker, watchedSpeaker } from './watched-speaker.ts'

const SOUND_CHECK_MS = 3_000
export const NO_VOICE = 'text only: there is no voice (espeak-ng, piper, say) or no player on this machine'

/** The speaker that a configuration names, or that the machine has. Rejects with a SpeakerError. */
export function speakerFor(
  { speaker: voice, piperModel, language, player }: VoiceConfig,
  outFile?: string,
): Promise<Speaker | undefined> {
  return findSpeaker({ voice, piperModel, language, player, outFile })
}

/** What speaks, if anything does. */
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

/** A moment of silence, to find out whether anything can be heard. Rejects with the reason if it cannot. */
async function soundCheck(speaker: Speaker): Promise<void> {
  const signal = AbortSignal.timeout(SOUND_CHECK_MS)
  try {
    await speaker.play(writeWav(new Float32Array(SAMPLE_RATE / 10)), { signal })
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`text only until this works: ${reason}`, { cause: error })
  }
}

/** Why nothing is spoken. Throws if that is nobody's wish. */
function silence({ speaker, player }: VoiceConfig): string {
  if (speaker === 'none' || player === 'none') return 'text only, as configured'
  throw new Error(NO_VOICE)
}
