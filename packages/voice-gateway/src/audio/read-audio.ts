import { isWav, knownKind } from './file-kind.ts'
import { readSound } from './read-sound.ts'
import { notWav, readWav } from './read-wav.ts'
import { AudioError, SAMPLE_RATE } from './samples.ts'
import type { WavFormat } from './wav-format.ts'

/** How raw sound is stored. */
const PCM: WavFormat = { encoding: 'pcm', channels: 1, rate: SAMPLE_RATE, sampleBytes: 2 }

/**
 * The sound of an utterance as 16 kHz mono samples. What was sent as raw PCM and is a WAV file is read as one;
 * what is plainly another kind of file is refused, because as sound it would be noise. Rejects with an AudioError.
 */
export async function readAudio(utterance: { wav: Uint8Array } | { pcm: Uint8Array }): Promise<Float32Array> {
  if ('wav' in utterance) return readWav(utterance.wav)
  const { pcm } = utterance
  if (isWav(pcm)) return readWav(pcm)
  const kind = knownKind(pcm)
  if (kind) throw new AudioError(notWav(kind))
  return readSound(pcm, PCM)
}
