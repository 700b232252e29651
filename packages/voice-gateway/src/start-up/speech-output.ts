import type { VoiceConfig } from 'toolpost/config'
import { SAMPLE_RATE } from '../audio/samples.ts'
import { writeWav } from '../audio/write-wav.ts'
import { findSpeaker } from '../speech-out/find-speaker.ts'
import type { Speaker } from '../speech-out/speaker.ts'
import type { VoiceContext } from './start-voice.ts'
import { type WatchedSpeaker, watchedSpeaker } from './watched-speaker.ts'

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
