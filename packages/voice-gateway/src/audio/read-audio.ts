import { isWav, knownKind } from './file-kind.ts'
import { readSound } from './read-sound.ts'
import { notWav, readWav } from './read-wav.ts'
import { AudioError, SAMPLE_RATE } from './samples.ts'
import type { WavFormat } from './wav-format.ts'

/** The format of raw sound. */
const PCM: WavFormat = { encoding: 'pcm', channels: 1, rate: SAMPLE_RATE, sampleBytes: 2 }

/**
 * The sound of an utterance as 16 kHz mono samples. A WAV file sent as raw PCM is read as a WAV file; any other
 * recognizable file is refused, because it would sound like noise. Rejects with an AudioError.
 */
export async function readAudio(utterance: { wav: Uint8Array } | { pcm: Uint8Array }): Promise<Float32Array> {
  if ('wav' in utterance) return readWav(utterance.wav)
  const { pcm } = utterance
  if (isWav(pcm)) return readWav(pcm)
  const kind = knownKind(pcm)
  if (kind) throw new AudioError(notWav(kind))
  return readSound(pcm, PCM)
}
